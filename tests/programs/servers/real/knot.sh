# SPDX-License-Identifier: MIT
# Runs knotd with $1 threads in this folder until it is killed; its id is in knot.pid.
mkdir -p knot
cat > knot/test.zone << END
test. 60 SOA ns.test. mail.test. 1 60 60 60 60
test. 60 NS ns.test.
ns.test. 60 A 10.0.0.1
a.test. 60 A 10.0.0.2
END
cat > knot/knot.conf << END
server:
    listen: 127.0.0.1@31234
    rundir: "$PWD/knot"
    udp-workers: $1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "$PWD/knot"
zone:
  - domain: test.
    storage: "$PWD/knot"
    file: test.zone
    zonefile-sync: -1
    journal-content: none
END
echo $$ > knot.pid
exec knotd -c knot/knot.conf
