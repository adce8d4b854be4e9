#!/bin/sh
# SPDX-License-Identifier: MIT
# On the board, in Debian: packages_debian.sh BOARD STEP...; each call is a boot
# of one and the same disk. packages_debian.test judges.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# All that a package, DKMS or setup may add; nothing that a boot writes.
list() {
	find /usr /etc /lib/modules/*/updates /var/lib/dkms /boot -xdev \
		\( -name __pycache__ -o -name 'group*' -o -name 'gshadow*' \) \
		-prune -o -print 2>/dev/null | sort
}

install() {
	list >/before
	apt-get install -qy --no-install-recommends /debs/*.deb >/log 2>&1 ||
		{ tail -n 60 /log; cat /var/lib/dkms/upmu/*/build/make.log; }
	dpkg-query -W -f '${Package} ${db:Status-Status}\n' '*upmu*'
	dkms status
	modinfo -F version upmu
	usermod -aG upmu user
	su user -c 'upmu setup --yes' 2>&1
	echo "user's setup: $?"
	upmu setup --yes
	echo "setup: $?"
}

booted() {
	id -nG
	grep -o '^upmu ' /proc/modules
	upmu stat -x, -e "$events" -- true
	echo "stat: $?"
	python3 -c 'import upmu
with upmu.Set("cycles") as counts:
    sum(range(1000))
print("python", counts.source, counts["cycles"] > 1000)'
	[ "$board" != a7 ] || {
		UPMU_REPORT=none python3 /python_cost.py
		UPMU_REPORT=none python3 /python_cost.py read
	}
}

# As root, who may count the kernel, too: page faults are page-faults then.
python() {
	cd /python && PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -rs \
		-p no:cacheprovider .
	echo "pytest: $?"
}

purge() {
	upmu setup --undo --yes
	echo "undo: $?"
	apt-get purge -qy upmu upmu-dkms libupmu0 libupmu-dev python3-upmu \
		>/log 2>&1 || tail -n 40 /log
	rm -f /var/log/apt/*
	list >/after
	diff /before /after && echo 'nothing is left'
	dpkg-query -W -f '${Package} ${db:Status-Status}\n' '*upmu*' 2>&1
}

board=$1
# Where the emulator counts no instructions, what it does count.
case $board in
a7) events=cycles,instructions ;;
*) events=cycles,page-faults ;;
esac
shift
for step; do
	echo "@ $step"
	"$step"
done
echo end
