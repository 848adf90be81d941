package console

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
)

// value is a field's value as a page shows it.
type value struct {
	// Kind says how: text, prose (lines are kept), code, time, yes, no, none, secret (to be copied), state.
	Kind string
	// Text has no invisible characters.
	Text string
	// Link is a path of the console; empty for none.
	Link string
	// Stamp is a time as programs read it; Brief: it stands in a table, which names the zone.
	Stamp string
	Brief bool
	// Long: a line that a table may break anywhere.
	Long bool
	// Mark warns of the value; empty for most.
	Mark string

	// id is that of an entity of an unknown kind; empty for any other value.
	id string
}

// lineLength is how many bytes of a text a table shows; a line up to shortLine is not broken within a word.
const (
	lineLength = 120
	shortLine  = 32
)

// secrets are the fields that show something once.
var secrets = map[string]bool{"NewInvitation.code": true, "TokenGrant.token": true}

// newValue makes it from GraphQL's answer. brief is for tables, where a value is one line.
func newValue(holder string, field *ast.FieldDefinition, raw any, brief bool) value {
	inner := typeOf(field.Type)
	switch v := raw.(type) {
	case nil:
		return value{Kind: "none"}
	case bool:
		if v {
			return value{Kind: "yes", Text: "Yes"}
		}
		return value{Kind: "no", Text: "No"}
	case json.Number:
		return value{Kind: "number", Text: number(field.Name, v)}
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = pages.VisibleLine(fmt.Sprint(one))
		}
		return value{Kind: "text", Text: strings.Join(texts, ", ")}
	case map[string]any:
		if isEntity(inner) {
			return entityLink(inner.Name, v)
		}
		return detailsValue(v)
	case string:
		return stringValue(holder, field, inner, v, brief)
	default:
		return value{Kind: "text", Text: pages.VisibleLine(fmt.Sprint(v))}
	}
}

func stringValue(holder string, field *ast.FieldDefinition, inner *ast.Definition, v string, brief bool) value {
	switch {
	case secrets[holder+"."+field.Name]:
		return value{Kind: "secret", Text: v}
	case v == "":
		return value{Kind: "none"}
	case inner.Kind == ast.Enum:
		return value{Kind: "state", Text: strings.ToLower(strings.ReplaceAll(v, "_", " "))}
	case inner.Name == "Time":
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return timeValue(at, brief)
		}
	case inner.Name == "ID", field.Name == "target":
		return idValue(field.Name, v, brief)
	case field.Name == "sha256":
		return value{Kind: "code", Text: v}
	}
	if field.Name == "displayName" {
		return value{Kind: "text", Text: pages.Line(v, lineLength), Long: len(v) > shortLine, Mark: markOf(v)}
	}
	if brief {
		return value{Kind: "text", Text: pages.Line(v, lineLength), Long: len(v) > shortLine}
	}
	if strings.Contains(v, "\n") || utf8.RuneCountInString(v) > lineLength {
		return value{Kind: "prose", Text: pages.Visible(v)}
	}
	return value{Kind: "text", Text: pages.VisibleLine(v)}
}

// markOf warns of a display name that looks like the platform's.
func markOf(displayName string) string {
	if text.Posing(displayName) {
		return "poses as the platform"
	}
	return ""
}

func timeValue(at time.Time, brief bool) value {
	return value{Kind: "time", Stamp: at.UTC().Format(time.RFC3339), Brief: brief}
}

// shortID is how many characters of an id tables show: its random end, since ids of the same minute begin alike.
const shortID = 8

// idValue leads to what has an id, whatever that is.
func idValue(field, id string, brief bool) value {
	v := value{Kind: "code", Text: id}
	if _, isID := parseID(id); isID && field != "id" && field != "transactionID" && field != "operationID" && field != "clientMessageID" {
		v.Link, v.id = "/find?q="+id, id
	}
	if _, isID := parseID(id); brief && isID {
		v.Text = shortened(id)
	}
	return v
}

// entityLink leads to the page of an entity, by its name.
func entityLink(kind string, fields map[string]any) value {
	id, _ := fields["id"].(string)
	listed := byType(kind)
	if listed == nil {
		return value{Kind: "code", Text: id}
	}
	return value{Kind: "text", Text: nameOf(listed, fields), Link: listed.Path + "/" + id}
}

// nameOf returns the text of a link to an entity.
func nameOf(listed *section, fields map[string]any) string {
	name, _ := fields[listed.Name].(string)
	if name = pages.Line(name, lineLength); name != "" {
		return name
	}
	id, _ := fields["id"].(string)
	return "…" + id[max(0, len(id)-shortID):]
}

// detailsValue is an object of the audit log.
func detailsValue(details map[string]any) value {
	if len(details) == 0 {
		return value{Kind: "none"}
	}
	raw, err := json.MarshalIndent(inCredits(details), "", "  ")
	if err != nil {
		return value{Kind: "none"}
	}
	return value{Kind: "prose", Text: pages.Visible(string(raw))}
}

// inCredits replaces amounts in minor units by credits, as pages write them everywhere.
func inCredits(details map[string]any) map[string]any {
	all := make(map[string]any, len(details))
	for name, v := range details {
		if minor, ok := v.(json.Number); ok && strings.HasSuffix(name, "Minor") {
			n, _ := minor.Int64() // amounts are whole numbers
			name, v = strings.TrimSuffix(name, "Minor"), credits(n)
		}
		if inner, ok := v.(map[string]any); ok {
			v = inCredits(inner)
		}
		all[name] = v
	}
	return all
}

// number is a number as people read it, by the unit in its field's name.
func number(field string, n json.Number) string {
	whole, err := n.Int64()
	switch {
	case err != nil:
		return n.String()
	case strings.HasSuffix(field, "Minor"):
		return credits(whole)
	case strings.HasSuffix(field, "Bytes"):
		return fileSize(whole)
	case field == "feeBps":
		return fmt.Sprintf("%d.%02d %%", whole/100, whole%100)
	default:
		return grouped(whole)
	}
}

// credits is an amount of minor units.
func credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign = "−"
		minor = -minor
	}
	return fmt.Sprintf("%s%s.%02d", sign, grouped(minor/100), minor%100)
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// fileSize is a size in bytes.
func fileSize(bytes int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	size, unit := float64(bytes), 0
	for size >= 1024 && unit < len(units)-1 {
		size /= 1024
		unit++
	}
	if unit == 0 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + units[unit]
}

// parseID reports whether a text is an id, and returns it in its one form.
func parseID(sent string) (string, bool) {
	id, err := text.UUID(strings.TrimSpace(sent))
	return id.String(), err == nil
}
