#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# On the board: upmu setup and its undoing; setup_board.test judges. Of what
# setup runs, busybox has modprobe and sysctl; the rest are stubs that do the
# least that their names say.
# shellcheck shell=dash
mkdir -p /etc/udev/rules.d /etc/modules-load.d /etc/modprobe.d /etc/sysctl.d
echo 'root:x:0:' >/etc/group
echo 'options other x=1' >/etc/modprobe.d/other.conf
folder=/lib/modules/$(uname -r)
mkdir -p "$folder/extra"
cp /upmu/upmu.ko "$folder/extra/"
depmod

stub() {	# NAME: its script on standard input
	{ echo '#!/bin/sh'; cat; } >"/bin/$1"
	chmod +x "/bin/$1"
}
stub groupadd <<'S'
echo "upmu:x:4321:" >>/etc/group
S
stub groupdel <<'S'
sed -i /^upmu:/d /etc/group
S
stub udevadm <<'S'
[ "$1" != trigger ] || ! [ -e /dev/upmu ] || chown 0:4321 /dev/upmu
S

snapshot() {
	find / -xdev -type f ! -path '/tmp/*' -exec md5sum {} + | sort -k 2
}

said() {	# COMMAND...
	"$@"
	echo "status $?"
}

changes() {	# the files that differ from /tmp/before
	snapshot >/tmp/now
	diff /tmp/before /tmp/now | sed -n 's/^[-+][0-9a-f]*  //p' | sort -u
}

snapshot >/tmp/before
echo @ dry
said upmu setup --dry-run
changes
echo @ user
said exec_reads as 1000 /upmu/bin/upmu setup --yes
changes
echo @ asked
said upmu setup </dev/null
changes
echo @ setup
said upmu setup --yes
echo @ changed
changes
echo @ check
said upmu check
echo @ member
said exec_reads as 4321 /upmu/bin/upmu check
echo @ again
said upmu setup --yes
echo @ undo
said upmu setup --undo --yes
ls -d /sys/module/upmu 2>/dev/null
echo @ undone
changes
echo end
echo @ readonly
mount -t tmpfs -o ro ro /etc/sysctl.d
mount -t tmpfs -o ro ro /etc/udev/rules.d
said upmu setup --yes
echo @ taken_back
changes
echo end
