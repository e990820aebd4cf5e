# SPDX-License-Identifier: MIT
# Runs haproxy with $1 threads in this folder until it is killed; its id is in haproxy.pid.
cat > haproxy.cfg << END
global
    nbthread $1
defaults
    mode http
    timeout client 10s
    timeout server 10s
    timeout connect 1s
frontend web
    bind 127.0.0.1:31231
    http-request return status 200 content-type text/plain string "hello"
END
echo $$ > haproxy.pid
exec haproxy -db -f haproxy.cfg
