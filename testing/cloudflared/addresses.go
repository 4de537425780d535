package main

import (
	"net"
	"net/url"
	"strings"
)

// address is what Go reads in a URL. Host and path are escaped again, as they may be no UTF-8.
type address struct {
	URL      string `json:"url"`
	Taken    bool   `json:"taken"`
	Scheme   string `json:"scheme"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Path     string `json:"path"`
}

// host is what net.SplitHostPort finds.
type host struct {
	Text  string `json:"text"`
	Found bool   `json:"found"`
	Host  string `json:"host"`
}

// network is whether net.ParseCIDR takes it.
type network struct {
	Text  string `json:"text"`
	Taken bool   `json:"taken"`
}

const writtenURLs = `
http://svc
http://svc:80
http://svc:80/
http://svc:
http://:80
http://
http:///x
http:svc
http:/svc
//svc:80
///svc
svc
svc:80
svc:80/x
1svc:80
10.0.0.1:80
:80
*
/
/x:y
x/y:z
?x
#x
#%
http://svc#%zz
http://svc#a%20b
http://svc?%zz
http://svc?a?b
http://svc/%zz
http://svc/%
http://svc/%4
http://svc/a%2Fb
http://svc/a%FFb
http://svc//a
http://svc/a b
http://svc/é
http://s vc
http://svc<>"
http://s\vc
http://s^vc
http://s|vc
http://s{vc}
http://s%20vc
http://s%25vc
http://s%C3%A9vc
http://s%41vc
http://é.example
http://svc:80:90
tcp://svc:80:90
ws://a:b:90
http://svc:a
http://svc:-1
http://svc:99999999
http://svc:８０
http://[::1]
http://[::1]:80
http://[::1]:
http://[::1]:a
http://[::1]80
http://[::1
http://::1]
http://::1
tcp://::1
http://[1.2.3.4]
http://[::1.2.3.4]
http://[::ffff:1.2.3.4]
http://[fe80::1%25eth0]
http://[fe80::1%25]
http://[fe80::1%eth0]
http://[fe80::1%25a%20b]
http://[fe80::1%25a%2Fb]
http://[fe80::1%25a%C3%A9]
http://[fe80::1%25%25]
http://[::1]x:80
http://x[::1]:80
http://[[::1]]
http://[]
http://[x]
http://[1:2:3:4:5:6:7:8]
http://[1:2:3:4:5:6:7::]
http://[1:2:3:4:5:6:7:8:9]
http://[::1]@svc
http://user@svc
http://user:pw@svc:80
http://user:p:w@svc
http://us er@svc
http://us%20er@svc
http://us%zzer@svc
http://us/er@svc
http://us@er@svc
http://usér@svc
http://us[er@svc
http://@svc
http://:@svc
HTTP://Svc:80
h2c+x://svc
h-t.p+1://svc
1http://svc
-http://svc
ht_tp://svc
é://svc
unix:///x
file:///x
mailto:a@b
tcp://svc?a#b
http://svc:80?x=1
http://svc:80#f
http://svc.:80
http://svc_a:80
http://-svc
http://~
http://a,b;c=d
http://a'b(c)!$&*+
http://a%
http://a%4
http://a%2
https://a.example.com/x/../y
https://A.EXAMPLE.COM/%41
https://a.example.com:443/a?b#c
`

var pieces = []string{
	"http", "https", "tcp", "a", "Z", "9", ":", "/", "//", "://", "?", "#", "@", "[", "]", "[::1]", "::", ":80", ".", "-", "_", "%", "%41", "%C3", "%25", "%20", "%zz", " ", "\t", "\x7f", "é", "<", "\"", "\\", "^", "{", "|", "~", "!", "+", "*", ";", "=", ",", "&", "'", "(",
}

func made(pieces []string, count int) []string {
	var texts []string
	for ; count > 0; count-- {
		var text strings.Builder
		for k := 1 + draws.Intn(7); k > 0; k-- {
			text.WriteString(pick(pieces))
		}
		texts = append(texts, text.String())
	}
	return texts
}

func lines(text string) []string {
	return strings.Split(strings.Trim(text, "\n"), "\n")
}

func urls() []address {
	given := append(lines(writtenURLs), "", "http://svc\n", "http://svc/\x00", "http://svc#\x00")
	given = append(given, made(pieces, 500)...)
	for _, text := range made(pieces, 700) {
		given = append(given, "http://"+text)
	}
	for b := rune(0); b < 0x81; b++ {
		given = append(given, "http://a"+string(b)+"b", "http://a"+string(b)+"b@c")
	}
	var rows []address
	for _, text := range given {
		row := address{URL: text}
		if parsed, err := url.Parse(text); err == nil {
			row.Taken, row.Scheme = true, parsed.Scheme
			row.Host, row.Hostname, row.Path = url.PathEscape(parsed.Host), url.PathEscape(parsed.Hostname()), url.PathEscape(parsed.Path)
		}
		rows = append(rows, row)
	}
	return rows
}

func hosts() []host {
	given := lines("a\na:1\na:\n:1\n:\na:b\na:b:c\n::1\n[::1]\n[::1]:1\n[::1]:\n[::1]:a\n[::1]a:1\n[a]:1\n[a:1\na]:1\n[a]]:1\n[[a]]:1\na:[1]\na:1]\na[:1\na]:1\n[]:1\n[]\n[\n]\nhttps://a\n*.a:1\na.example.com./")
	given = append(given, made([]string{"a", ":", "[", "]", "::1", "*", ".", "/"}, 300)...)
	var rows []host
	for _, text := range given {
		name, _, err := net.SplitHostPort(text)
		rows = append(rows, host{text, err == nil, name})
	}
	return rows
}

func networks() []network {
	given := lines("192.0.2.0/24\n192.0.2.1/24\n192.0.2.0\n192.0.2.0/\n192.0.2.0/0\n192.0.2.0/32\n192.0.2.0/33\n192.0.2.0/024\n192.0.2.0/+24\n192.0.2.0/-1\n192.0.2.0/24 \n 192.0.2.0/24\n192.0.2.0/24/1\n192.0.2/24\n192.0.2.00/24\n192.0.2.256/24\n0x1.2.3.4/8\n::/0\n::/128\n::/129\n2001:db8::/32\n2001:DB8::/32\n::ffff:192.0.2.0/120\n::ffff:192.0.2.0/24\nfe80::1%eth0/64\n[::1]/64\n1:2:3:4:5:6:7:8/64\n1:2:3:4:5:6:7::/64\n1:2:3:4:5:6:7:8:9/64\n1::2::3/64\n12345::/64\n:1::/64\n::1.2.3/64\n1.2.3.4.5/8\nbad\n/\n/24\n١.2.3.4/8\n192.0.2.0/００\n192.0.2.0/99999999999999999999")
	given = append(given, made([]string{"1", "255", "256", "0", ".", ".", "::", ":", "a", "/", "8", "ffff"}, 300)...)
	for _, text := range made([]string{"1", ":", ":", "::", "0", "ffff", "1.2.3.4", "2:3:4"}, 300) {
		given = append(given, text+"/8")
	}
	var rows []network
	for _, text := range given {
		_, _, err := net.ParseCIDR(text)
		rows = append(rows, network{text, err == nil})
	}
	return rows
}
