# SPDX-License-Identifier: MIT
# Runs Apache's event module with $1 threads in this folder until it is killed; its id is
# in apache.pid.
here=$PWD
modules=/usr/lib/apache2/modules
test -s text || seq 1 100 > text
cat > apache.conf << END
ServerRoot $here
PidFile $here/apache-own.pid
Listen 127.0.0.1:31232
ServerName localhost
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
DocumentRoot $here
ErrorLog $here/apache.log
User nobody
Group nogroup
StartServers 1
ThreadsPerChild $1
MaxRequestWorkers $1
ServerLimit 1
END
echo $$ > apache.pid
exec apache2 -X -f "$here/apache.conf"
