package inspection

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// linkSchemes are the schemes that a link of a PDF may have.
var linkSchemes = map[string]bool{"http": true, "https": true, "mailto": true}

// linkKeys are the entries that hold an address: of a link, and the base of a document's relative links.
var linkKeys = map[string]bool{"URI": true, "Base": true}

// strays reports whether an entry of linkKeys is a link to anything but linkSchemes. A reference that pdfcpu cannot resolve may
// lead to a link in a reader.
func (d *document) strays(value types.Object) bool {
	_, reference := value.(types.IndirectRef)
	switch value := d.resolve(value).(type) {
	case nil:
		return reference
	case types.StringLiteral:
		return !safeLink(stringBytes([]byte("(" + value + ")")))
	case types.HexLiteral:
		return !safeLink(stringBytes([]byte("<" + value + ">")))
	case types.Name:
		return !safeLink([]byte(name(value)))
	}
	return false
}

// safeLink reports whether the address of a link has one of linkSchemes, or none and no host. It is read as a browser reads it:
// without white space and control characters wherever they stand. The scheme's percent escapes are resolved too.
func safeLink(address []byte) bool {
	head := schemeAndMore(address)
	if rest := strings.TrimLeft(head, `/\`); len(head)-len(rest) >= 2 {
		return false // a host without a scheme
	}
	end := strings.IndexAny(head, ":/?#")
	return end < 0 || head[end] != ':' || linkSchemes[strings.ToLower(head[:end])]
}

// maxScheme is how many printable ASCII characters of an address are searched for its scheme.
const maxScheme = 64

// schemeAndMore returns the first printable ASCII characters of an address in any encoding, without spaces.
func schemeAndMore(address []byte) string {
	var head strings.Builder
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), address) // a mark means UTF-16 of either order, or UTF-8
	if err != nil {
		text = address
	}
	for _, b := range addressEscape.ReplaceAllFunc(text, unescaped) {
		if b > ' ' && b <= '~' && head.Len() < maxScheme {
			head.WriteByte(b)
		}
	}
	return head.String()
}

// notDigits matches what may stand between hexadecimal digits.
var notDigits = regexp.MustCompile(`[^0-9A-Fa-f]+`)

// stringBytes decodes a string of a PDF with its delimiters (ISO 32000-2, 7.3.4). Damaged ones are read as far as they go.
func stringBytes(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '<' {
		digits := append(notDigits.ReplaceAll(raw, nil), '0') // an odd number of digits lacks a 0, and an even one leaves this 0 over
		n, _ := hex.Decode(digits, digits)
		return digits[:n]
	}
	raw = bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("(")), []byte(")"))
	text, err := types.Unescape(string(raw))
	if err != nil {
		return raw
	}
	return text
}

// isAmbiguous reports whether pdfcpu and readers read a string of hexadecimal digits differently: with white space within a
// byte. Such a string as a separate object may be the address of a link.
func isAmbiguous(raw []byte) bool {
	if raw[0] != '<' {
		return false
	}
	groups := bytes.Fields(bytes.Trim(raw, "<>"))
	return slices.ContainsFunc(groups[:max(0, len(groups)-1)], func(group []byte) bool { return len(group)%2 == 1 })
}
