// What AdGuard's filter library says of names: one of the judges of testdata/lists/differential.
// SPDX-License-Identifier: BSD-3-Clause
//
// It reads and writes what ../judge.c does, and settles answers as AdGuard Home does: rewrites before
// all other rules; of these the first alias, or the first RCODE that is a failure, or all records.
package main

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/AdguardTeam/urlfilter"
	"github.com/AdguardTeam/urlfilter/filterlist"
	"github.com/AdguardTeam/urlfilter/rules"
	"github.com/miekg/dns"
)

func value(r *rules.DNSRewrite) string {
	word := dns.TypeToString[r.RRType]
	switch v := r.Value.(type) {
	case nil:
		if r.RRType == 0 {
			return dns.RcodeToString[r.RCode]
		}
		return word
	case *rules.DNSMX:
		return fmt.Sprintf("MX\t%d %s.", v.Preference, v.Exchange)
	case *rules.DNSSRV:
		return fmt.Sprintf("SRV\t%d %d %d %s.", v.Priority, v.Weight, v.Port, v.Target)
	case string:
		if r.RRType == dns.TypeTXT {
			return "TXT\t\"" + v + "\""
		}
		return word + "\t" + v
	default:
		return word + "\t" + fmt.Sprint(v)
	}
}

func answer(name string, rewrites []*rules.NetworkRule) string {
	parts := map[string]bool{}
	for _, r := range rewrites {
		if c := r.DNSRewrite.NewCNAME; c != "" {
			if strings.EqualFold(c, name) {
				return ""
			}
			return "CNAME\t" + strings.ToLower(c) + "."
		}
	}
	for _, r := range rewrites {
		if r.DNSRewrite.RCode != dns.RcodeSuccess {
			return dns.RcodeToString[r.DNSRewrite.RCode]
		}
		parts[value(r.DNSRewrite)] = true
	}
	var sorted []string
	for p := range parts {
		sorted = append(sorted, p)
	}
	sort.Strings(sorted)
	return strings.Join(sorted, "; ")
}

func ask(e *urlfilter.DNSEngine, words []string) string {
	name := strings.TrimSuffix(words[1], ".")
	req := &urlfilter.DNSRequest{Hostname: name, DNSType: dns.StringToType[words[2]]}
	if words[3] != "-" {
		req.ClientIP = netip.MustParseAddr(words[3])
	}
	res, matched := e.MatchRequest(req)
	if res != nil {
		if a := answer(name, res.DNSRewrites()); a != "" {
			return a
		}
	}
	switch {
	case !matched:
		return "pass"
	case res.NetworkRule != nil && res.NetworkRule.Whitelist:
		return "pass"
	}
	return "block"
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var engine *urlfilter.DNSEngine
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch words[0] {
		case "list":
			count, _ := strconv.Atoi(words[1])
			var text strings.Builder
			for ; count > 0 && in.Scan(); count-- {
				text.WriteString(in.Text() + "\n")
			}
			list := &filterlist.StringRuleList{ID: 1, RulesText: text.String(), IgnoreCosmetic: true}
			storage, err := filterlist.NewRuleStorage([]filterlist.RuleList{list})
			if err != nil {
				panic(err)
			}
			engine = urlfilter.NewDNSEngine(storage)
		case "ask":
			fmt.Fprintln(out, ask(engine, words))
		}
	}
}
