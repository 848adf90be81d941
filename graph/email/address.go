package email

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Lengths in characters.
const (
	maxAddress = 254
	maxLocal   = 64
)

var (
	errEmpty   = errors.New("must be an email address such as name@example.org")
	errControl = errors.New("must not hold line breaks or other control characters")
	errBare    = errors.New("must be one address alone, such as name@example.org, without a name, comments, quotes or brackets")
	errLong    = errors.New("must not be longer than 254 characters")
	errLocal   = errors.New("must have 1 to 64 ASCII letters, digits, dots and signs before the @, and no dot at the ends or beside another")
	errDomain  = errors.New("must have a domain such as example.org after the @")
)

// Address is an email address: its local part as it was written, and its domain in its ASCII form in lower case. Two spellings of
// one address have the same Key. The zero value is no address.
type Address struct{ local, domain string }

// domains maps a domain to its ASCII form in lower case, or refuses it.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true), idna.Transitional(false))

// Parse accepts one address and nothing else: at most 254 characters, an ASCII local part that is not quoted, and a domain name
// of at least two parts. It drops spaces around the address, changes the domain to lower case and its ASCII form, and keeps the
// local part unchanged. The error describes the mistake, worded as the end of a sentence.
func Parse(text string) (Address, error) {
	text = strings.Trim(text, " ")
	local, domain, found := strings.Cut(text, "@")
	switch {
	case text == "":
		return Address{}, errEmpty
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return Address{}, errControl
	case utf8.RuneCountInString(text) > maxAddress:
		return Address{}, errLong
	case strings.ContainsAny(text, " <>()[]\",;:\\"), strings.Contains(domain, "@"):
		return Address{}, errBare
	case !found:
		return Address{}, errEmpty
	case !isLocal(local):
		return Address{}, errLocal
	}
	domain, err := domains.ToASCII(domain)
	if err != nil || !isDomain(domain) {
		return Address{}, errDomain
	}
	if len(local)+len("@")+len(domain) > maxAddress {
		return Address{}, errLong
	}
	return Address{local, domain}, nil
}

// isLocal reports whether a local part is a dot-atom of RFC 5322.
func isLocal(local string) bool {
	if local == "" || len(local) > maxLocal {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return !isAtomText(r) }) {
			return false
		}
	}
	return true
}

func isAtomText(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// isDomain reports whether a name that is ASCII already has two parts and is not a number such as 192.0.2.1.
func isDomain(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	return len(last) < len(domain) && last != "" && strings.Trim(last, "0123456789") != ""
}

// String is the address that mail is sent to. Its local part keeps upper and lower case, which a mail server may distinguish.
func (a Address) String() string { return a.local + "@" + a.domain }

// Key is the form in which addresses are compared and counted: lower case, with dots and a +suffix.
func (a Address) Key() string { return strings.ToLower(a.local) + "@" + a.domain }

// Mailbox is the Key without a +suffix. Addresses with the same Mailbox most likely reach the same person.
func (a Address) Mailbox() string {
	local := strings.ToLower(a.local)
	if at := strings.Index(local, "+"); at > 0 {
		local = local[:at]
	}
	return local + "@" + a.domain
}

// Hint is the form that may be shown to others, such as a***@example.org.
func (a Address) Hint() string { return a.Key()[:1] + "***@" + a.domain }
