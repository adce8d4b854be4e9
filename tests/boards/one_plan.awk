# SPDX-License-Identifier: MIT
# Several programs' TAP, one after the other, as that of one.
/^1\.\.[0-9]+$/ { planned += substr($0, 4); next }
/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++tests) }
{ print }
END { print "1.." planned + 0 }
