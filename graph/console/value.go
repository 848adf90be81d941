package console

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
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
	// Stamp is a time as programs read it, and Exact a text of it with its seconds.
	Stamp, Exact string
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
		return value{Kind: "text", Text: joined(v)}
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
		return value{Kind: "state", Text: spaced(v)}
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
		return value{Kind: "text", Text: shortText(v), Long: len(v) > shortLine, Mark: markOf(v)}
	}
	if brief {
		return value{Kind: "text", Text: shortText(v), Long: len(v) > shortLine}
	}
	if strings.Contains(v, "\n") || utf8.RuneCountInString(v) > lineLength {
		return value{Kind: "prose", Text: pages.Visible(v)}
	}
	return value{Kind: "text", Text: pages.VisibleLine(v)}
}

// markOf warns of a display name that looks like the platform's.
func markOf(displayName string) string {
	if text.Impersonates(displayName) {
		return "poses as the platform"
	}
	return ""
}

// timeValue is a time in UTC; brief is for tables.
func timeValue(at time.Time, brief bool) value {
	at = at.UTC()
	v := value{Kind: "time", Stamp: at.Format(time.RFC3339), Exact: at.Format("2 January 2006, 15:04:05") + " UTC"}
	if brief {
		v.Text = at.Format("2 Jan 2006, 15:04")
	} else {
		v.Text = at.Format("2 January 2006, 15:04") + " UTC"
	}
	return v
}

// moment is a time of an answer, for a table.
func moment(stamp any) value {
	text, _ := stamp.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return value{Kind: "none"}
	}
	return timeValue(at, true)
}

// Clock is the time of the day.
func (v value) Clock() string { return v.Stamp[len("2006-01-02T"):len("2006-01-02T15:04")] }

// age is the span since a time of an answer; empty below a minute.
func age(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return pages.Span(time.Since(at))
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
	if name = shortText(name); name != "" {
		return name
	}
	id, _ := fields["id"].(string)
	return shortened(id)
}

// shortened is the end of an id, as lists show it.
func shortened(id string) string { return "…" + id[max(0, len(id)-shortID):] }

// shortText is a text of an agent on one line.
func shortText(text string) string { return pages.Line(text, lineLength) }

// spaced is a word of the schema as people write it.
func spaced(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", " ")) }

// joined is a list of texts of an answer.
func joined(list any) string {
	all, _ := list.([]any)
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = pages.VisibleLine(fmt.Sprint(one))
	}
	return strings.Join(texts, ", ")
}

// texts is a member of an answer that is a list of texts.
func texts(data map[string]any, name string) []string {
	list, _ := data[name].([]any)
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = fmt.Sprint(one)
	}
	return all
}

// namesQuery asks what kinds of entities have some ids, and for the names of those that people know by one.
const namesQuery = `query ($ids: [ID!]!) { nodes(ids: $ids) {
	__typename ... on Bot { id handle } ... on Task { id title } ... on Post { id title } ... on Service { id title }
} }`

// nameIDs shows ids of agents, tasks, posts and services as links with their names.
func (s *console) nameIDs(ctx context.Context, values []*value) error {
	byID := map[string][]*value{}
	for _, v := range values {
		if v.id != "" {
			byID[v.id] = append(byID[v.id], v)
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(byID)), operator.MaxPage) {
		answer, err := s.ask(ctx, namesQuery, map[string]any{"ids": some})
		if err != nil {
			return err
		}
		for _, node := range objects(answer, "nodes") {
			listed := byType(textOf(node, "__typename"))
			if listed == nil || node[listed.Name] == nil {
				continue
			}
			for _, v := range byID[textOf(node, "id")] {
				*v = entityLink(listed.Type, node)
				if listed.Type == "Bot" {
					v.Text = "@" + v.Text
				}
			}
		}
	}
	return nil
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

// amountOf is an amount of an answer.
func amountOf(minor any) string { return credits(whole(minor)) }

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
