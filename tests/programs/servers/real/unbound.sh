# SPDX-License-Identifier: MIT
# Runs unbound with $1 threads in this folder until it is killed; its id is in unbound.pid.
cat > unbound.conf << END
server:
    num-threads: $1
    interface: 127.0.0.1@31233
    username: ""
    chroot: ""
    directory: "$PWD"
    pidfile: "$PWD/unbound-own.pid"
    use-syslog: no
    logfile: "$PWD/unbound.log"
    do-daemonize: no
    local-zone: "test." redirect
    local-data: "test. A 10.0.0.1"
    so-reuseport: yes
END
echo $$ > unbound.pid
exec unbound -d -c unbound.conf
