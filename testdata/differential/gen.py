types="deny refuse static transparent typetransparent redirect nodefault inform inform_deny inform_redirect always_transparent always_refuse always_nxdomain always_nodata always_deny always_null noview".split()
out='''# Local zones: every type, at the name, below it, at names and types that are there and are not.

case local-zone-types
'''
for t in types: out+='local-zone: "%s.lz." %s\n'%(t,t)
quick=[t for t in types if 'deny' not in t]
out+='''? {%s}.lz. A,ANY,SOA
? x.{%s}.lz. A,AAAA,ANY,SOA,NS,DS,CNAME,TXT -|do
? {,x.}{refuse,static,transparent,redirect,always_refuse,always_nxdomain,always_nodata,always_null}.lz. A,DS cd|ad|nord|noedns|tcp
? {,x.}{static,redirect,always_null,transparent}.lz. A class=CH|class=HS

case local-zone-silent
patience 0.15
local-zone: "deny.lz." deny
local-zone: "inform_deny.lz." inform_deny
local-zone: "always_deny.lz." always_deny
local-data: "host.deny.lz. A 192.0.2.1"
local-data: "host.inform_deny.lz. A 192.0.2.1"
local-data: "host.always_deny.lz. A 192.0.2.1"
? {,host.,x.}{deny,inform_deny,always_deny}.lz. A,MX -|do
? host.{deny,inform_deny,always_deny}.lz. A tcp

'''%(','.join(types[1:]),','.join(quick))
data='''local-data: "lz. 300 IN A 192.0.2.1"
local-data: "lz. 300 IN A 192.0.2.2"
local-data: "lz. IN TXT apex"
'''
below='''local-data: "host.lz. IN A 192.0.2.3"
local-data: "a.b.ent.lz. IN A 192.0.2.4"
local-data: "alias.lz. IN CNAME host.lz."
local-data: "out.lz. IN CNAME www.types.mini."
local-data: "real.lz. IN CNAME a.types.mini."
local-data: "*.wild.lz. IN A 192.0.2.5"
local-data: "cut.lz. IN NS ns.cut.lz."
local-data: "cut.lz. IN DS 1 8 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
local-data: "ns.cut.lz. IN A 192.0.2.6"
local-data: "dn.lz. IN DNAME types.mini."
'''
for t in types:
    if t in('always_deny',): continue
    out+='case local-data-%s\nlocal-data-follow-cname: no\nlocal-zone: "lz." %s\n'%(t,t)+data
    if 'redirect' not in t: out+=below
    if 'deny' in t:
        out+='patience 0.15\n? {,host.,alias.,real.,cut.,dn.}lz. A,ANY,TXT,CNAME\n\n'; continue
    out+='''? {,host.,x.,x.host.,a.b.ent.,b.ent.,ent.,x.ent.,alias.,out.,real.,wild.,x.wild.,a.x.wild.,*.wild.,cut.,ns.cut.,x.cut.,dn.,a.dn.}lz. A,AAAA,ANY,TXT
? {,host.,x.,ent.,alias.,cut.,x.cut.,real.}lz. SOA,NS,DS,CNAME,DNSKEY,NSEC,TYPE65280 -|do
? {host.,x.,real.}lz. A cd|nord|ad|noedns

'''
open('cases/local.case','w').write(out)
