# Makes a configuration of /etc/config/resolverd and /etc/config/dhcp.
# shellcheck shell=sh disable=SC2034,SC2154,SC3043
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced after /lib/functions.sh and /lib/functions/network.sh. uci_conf prints the configuration; what the files lack
# has the values of resolverd.config.

# A value in quotes; what would end them is not let in.
uci_quoted() { printf '"%s"' "$(printf '%s' "$1" | tr -d '"\\\n')"; }

uci_network() { # NAME: it may ask, and is answered at its addresses
	local net=$1 subnets subnet
	network_get_subnets subnets "$net" && for subnet in $subnets; do
		echo "	interface: ${subnet%/*}"
		echo "	access-control: $subnet allow"
	done
	network_get_subnets6 subnets "$net" && for subnet in $subnets; do
		echo "	interface: ${subnet%/*}"
		echo "	access-control: $subnet allow"
	done
	return 0
}

uci_main() { # SECTION
	local port validate cache rebind resource
	config_get port "$1" port 53
	config_get cache "$1" cache_mb 4
	config_get resource "$1" resource tiny
	config_get_bool validate "$1" validate 1
	config_get_bool rebind "$1" rebind_protection 1
	echo "server:"
	echo "	port: $port"
	echo "	interface: 127.0.0.1"
	echo "	interface: ::1"
	config_list_foreach "$1" network uci_network
	echo "	use-syslog: yes"
	echo "	directory: /etc/resolver"
	echo "	rrset-cache-size: $((cache * 2 / 3 + 1))m"
	echo "	msg-cache-size: $((cache / 3 + 1))m"
	[ "$resource" = large ] || printf '\t%s\n' "num-threads: 1" "outgoing-range: 250" "num-queries-per-thread: 128"
	[ "$resource" != large ] || echo "	num-threads: $(grep -c ^processor /proc/cpuinfo)"
	if [ "$validate" = 1 ]; then
		echo "	auto-trust-anchor-file: $STATEDIR/root.key"
	else
		echo '	module-config: "iterator"'
	fi
	[ "$rebind" != 1 ] || printf '\tprivate-address: %s\n' 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 \
		fd00::/8 fe80::/10
	echo '	blocklist-directory: ""'
}

uci_server() { # ADDRESS[@PORT][#NAME]
	echo "	forward-addr: $1"
}
uci_forward() { # SECTION
	local name tls
	config_get name "$1" name .
	config_get_bool tls "$1" tls 0
	echo "forward-zone:"
	echo "	name: $(uci_quoted "$name")"
	[ "$tls" != 1 ] || echo "	forward-tls-upstream: yes"
	config_list_foreach "$1" server uci_server
}

uci_blocklist() { # SECTION
	local name file
	config_get name "$1" name "$1"
	config_get file "$1" file
	[ -n "$file" ] || return 0
	echo "blocklist:"
	echo "	name: $(uci_quoted "$name")"
	echo "	file: $(uci_quoted "$file")"
}

# Leases of dnsmasq, and of odhcpd where that serves DHCP itself.
uci_leases() { # SECTION of type dnsmasq
	local file domain
	config_get file "$1" leasefile /tmp/dhcp.leases
	config_get domain "$1" domain lan
	echo "dhcp-leases:"
	echo "	file: $(uci_quoted "$file")"
	echo "	domain: $(uci_quoted "$domain")"
}
uci_odhcpd() { # SECTION of type odhcpd
	local file
	config_get file "$1" leasefile
	[ -n "$file" ] || return 0
	echo "dhcp-leases:"
	echo "	file: $(uci_quoted "$file")"
	echo '	domain: "lan"'
}
# Hosts with a fixed address: `config host` and `config domain`.
uci_host() { # SECTION
	local name ip
	config_get name "$1" name
	config_get ip "$1" ip
	case $ip in '' | ignore) return 0 ;; *:*) type=AAAA ;; *) type=A ;; esac
	[ -n "$name" ] || return 0
	echo "server:"
	case $name in *.*) ;; *) name=$name.lan ;; esac
	echo "	local-data: $(uci_quoted "$name. $type $ip")"
	echo "	local-data-ptr: $(uci_quoted "$ip $name.")"
}

uci_conf() {
	config_load resolverd
	config_foreach uci_main resolverd
	config_foreach uci_forward forward
	config_foreach uci_blocklist blocklist
	config_load dhcp
	config_foreach uci_leases dnsmasq
	config_foreach uci_odhcpd odhcpd
	config_foreach uci_host host
	config_foreach uci_host domain
	echo 'include-toplevel: "/etc/resolver/resolver.conf.d/*.conf"'
}
