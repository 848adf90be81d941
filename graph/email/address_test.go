package email_test

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"stoa/graph/email"
)

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for given, normal := range map[string]string{
		"ada@example.org":                 "ada@example.org",
		"  Ada.Lovelace@Example.ORG ":     "Ada.Lovelace@example.org",
		"a.d.a+stoa@example.org":          "a.d.a+stoa@example.org",
		"!#$%&'*+-/=?^_`{|}~@example.org": "!#$%&'*+-/=?^_`{|}~@example.org",
		"ada@bücher.example":              "ada@xn--bcher-kva.example",
		"ada@BÜCHER.example":              "ada@xn--bcher-kva.example",
		"ada@xn--bcher-kva.example":       "ada@xn--bcher-kva.example",
		"ada@ｅｘａｍｐｌｅ.org":                 "ada@example.org",
		"ada@例え。テスト":                      "ada@xn--r8jz45g.xn--zckzah",
		"ada@sub.sub.example.museum":      "ada@sub.sub.example.museum",
		"ada@1.example.org":               "ada@1.example.org",
		long + "@example.org":             long + "@example.org",
		"ada@straße.example":              "ada@xn--strae-oqa.example",
		"0@x.co":                          "0@x.co",
		long + "@" + label(63) + "." + label(63) + "." + label(61): long + "@" + label(63) + "." + label(63) + "." + label(61),
	} {
		parsed, err := email.Parse(given)
		require.NoError(t, err, given)
		require.Equal(t, normal, parsed.String())
	}
}

// Mail goes to the local part as it was written. Comparisons ignore its case, and limits on mails also ignore its +suffix.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]struct{ sent, key, mailbox string }{
		"Zoe.Owner+x@Example.org": {"Zoe.Owner+x@example.org", "zoe.owner+x@example.org", "zoe.owner@example.org"},
		"zoe.owner@example.org":   {"zoe.owner@example.org", "zoe.owner@example.org", "zoe.owner@example.org"},
		"ZOE+a+b@BÜCHER.example":  {"ZOE+a+b@xn--bcher-kva.example", "zoe+a+b@xn--bcher-kva.example", "zoe@xn--bcher-kva.example"},
		"+x@example.org":          {"+x@example.org", "+x@example.org", "+x@example.org"},
		"z.o.e+@example.org":      {"z.o.e+@example.org", "z.o.e+@example.org", "z.o.e@example.org"},
	} {
		parsed, err := email.Parse(given)
		require.NoError(t, err, given)
		require.Equal(t, want.sent, parsed.String())
		require.Equal(t, want.key, parsed.Key())
		require.Equal(t, want.mailbox, parsed.Mailbox())
	}
}

func label(n int) string { return strings.Repeat("b", n) }

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for given, complaint := range map[string]string{
		"":                                 "must be an email address",
		"   ":                              "must be an email address",
		"ada":                              "must be an email address",
		"@example.org":                     "before the @",
		"ada@":                             "must have a domain",
		"ada@example":                      "must have a domain",
		"ada@localhost":                    "must have a domain",
		"ada@example..org":                 "must have a domain",
		"ada@.example.org":                 "must have a domain",
		"ada@example.org.":                 "must have a domain",
		"ada@192.0.2.1":                    "must have a domain",
		"ada@-example.org":                 "must have a domain",
		"ada@exa_mple.org":                 "must have a domain",
		"ada@" + label(64) + ".org":        "must have a domain",
		"ada@xn--a.example":                "must have a domain",
		"ada@\xff.example":                 "line breaks",
		"ada@[192.0.2.1]":                  "without a name, comments, quotes or brackets",
		"Ada <ada@example.org>":            "without a name",
		"<ada@example.org>":                "without a name",
		"ada@example.org, bob@example.org": "without a name",
		"ada@example.org;bob@example.org":  "without a name",
		"ada@bob@example.org":              "without a name",
		`"ada"@example.org`:                "without a name",
		"ada(lovelace)@example.org":        "without a name",
		"ada lovelace@example.org":         "without a name",
		`ada\@example.org`:                 "without a name",
		"ada@example.org\r\nBcc: x@y.org":  "line breaks",
		"ada@example.org\n":                "line breaks",
		"\tada@example.org":                "line breaks",
		"ada\x00@example.org":              "line breaks",
		"ada\u0085@example.org":            "line breaks",
		".ada@example.org":                 "before the @",
		"ada.@example.org":                 "before the @",
		"a..da@example.org":                "before the @",
		"ädä@example.org":                  "before the @",
		"\u212aelvin@example.org":          "before the @",
		label(65) + "@example.org":         "before the @",
		label(64) + "@" + label(63) + "." + label(63) + "." + label(62): "254 characters",
		"a@" + strings.Repeat("ü.", 120) + "example.org":                "must have a domain",
	} {
		_, err := email.Parse(given)
		require.ErrorContains(t, err, complaint, "%q", given)
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	for given, hint := range map[string]string{"Ada@Example.org": "a***@example.org", "x@example.org": "x***@example.org"} {
		parsed, err := email.Parse(given)
		require.NoError(t, err)
		require.Equal(t, hint, parsed.Hint())
	}
}

// Every text that Parse accepts becomes one address in its normal form, which a header can hold.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"ada@example.org", "Ada+x@BÜCHER.example", "a@b.c\r\nBcc: d@e.f", `"a"@b.c`, "a@例え。テスト", "a@xn--bcher-kva.example"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		parsed, err := email.Parse(given)
		if err != nil {
			require.Equal(t, email.Address{}, parsed)
			return
		}
		text := parsed.String()
		require.LessOrEqual(t, len(text), 254)
		require.False(t, strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' }), text)
		require.False(t, strings.ContainsFunc(parsed.Key(), unicode.IsUpper), text)
		again, err := email.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, parsed, again)
		read, err := mail.ParseAddress(text)
		require.NoError(t, err, text)
		require.Equal(t, text, read.Address)
		require.NotContains(t, parsed.Hint(), text)
	})
}
