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
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
)

// value is a field's value as a page shows it.
type value struct {
	// Kind is how it is shown: text, prose (lines are kept), code, time, number, none, secret (to be copied), state.
	Kind string
	// Text has no invisible characters.
	Text string
	// Link is a path of the console; empty for none.
	Link string
	// Stamp is a time for programs, and Exact a text of it with its seconds.
	Stamp, Exact string
	// Long is true if a table may break the line anywhere.
	Long bool
	// Mark is a warning about the value; empty for most values.
	Mark string

	// id is the id of an entity of an unknown kind; empty for any other value.
	id string
}

// A table shows lineLength bytes of a text. A line up to shortLine is not broken within a word.
const (
	lineLength = 120
	shortLine  = 32
)

// secrets are fields that are shown only once.
var secrets = map[string]bool{"NewInvitation.code": true, "TokenGrant.token": true, "NewOperator.token": true}

// newValue converts a value of GraphQL's answer. brief is for tables: the value is one line.
func newValue(holder string, field *ast.FieldDefinition, raw any, brief bool) value {
	inner := typeOf(field.Type)
	switch v := raw.(type) {
	case nil:
		return value{Kind: "none"}
	case bool:
		return value{Kind: "text", Text: map[bool]string{true: "Yes", false: "No"}[v]}
	case json.Number:
		return value{Kind: "number", Text: number(field.Name, v)}
	case []any:
		return value{Kind: "text", Text: joined(v)}
	case map[string]any:
		if IsEntity(inner) {
			return entityLink(inner.Name, v)
		}
		if did := summary(v); brief && did != "" {
			return value{Kind: "text", Text: did, Long: true}
		} else if brief {
			return value{Kind: "none"}
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
	case strings.TrimSpace(v) == "":
		return value{Kind: "text", Text: "white space only"}
	case inner.Kind == ast.Enum:
		return value{Kind: "state", Text: spaced(v)}
	case inner.Name == "Time":
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return timeValue(at, brief)
		}
	case inner.Name == "ID", field.Name == "target":
		return idValue(field.Name, v, brief)
	case field.Name == "procedure":
		return value{Kind: "text", Text: Human(v)}
	case field.Name == "sha256":
		return value{Kind: "code", Text: v}
	case field.Name == "displayName":
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
		return "looks like the platform"
	}
	return ""
}

// timeValue formats a time in UTC; brief is for tables.
func timeValue(at time.Time, brief bool) value {
	at = at.UTC()
	layout, zone := "2 January 2006, 15:04", " UTC"
	if brief {
		layout, zone = "2 Jan 2006, 15:04", ""
	}
	return value{Kind: "time", Stamp: at.Format(time.RFC3339), Exact: at.Format("2 January 2006, 15:04:05") + " UTC", Text: at.Format(layout) + zone}
}

// moment formats a time of an answer, for a table.
func moment(stamp any) value {
	text, _ := stamp.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return value{Kind: "none"}
	}
	return timeValue(at, true)
}

// Clock returns the time of day; empty without a time.
func (v value) Clock() string {
	_, clock, _ := strings.Cut(v.Stamp, "T")
	return clock[:min(len("15:04"), len(clock))]
}

// age returns the time since a time of an answer; empty below a minute.
func age(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return pages.Span(time.Since(at))
}

// shortID is the number of characters of an id in tables: its random end, because ids of the same minute begin alike.
const shortID = 8

// idValue links to the entity that has an id, of any kind.
func idValue(field, id string, brief bool) value {
	v := value{Kind: "code", Text: id}
	if _, isID := parseID(id); !isID {
		return v
	}
	if !slices.Contains([]string{"id", "transactionID", "operationID", "clientMessageID"}, field) {
		v.Link, v.id = "/find?q="+id, id
	}
	if brief {
		v.Text = shortened(id)
	}
	return v
}

// entityLink links to the page of an entity, by its name.
func entityLink(kind string, fields map[string]any) value {
	listed := byType(kind)
	if listed == nil {
		return value{Kind: "code", Text: textOf(fields, "id")}
	}
	return value{Kind: "text", Text: nameOf(listed, fields), Link: listed.Path + "/" + textOf(fields, "id")}
}

// nameOf returns the text of a link to an entity: its name, with an agent's @, or else its kind and the end of its id.
func nameOf(listed *Section, fields map[string]any) string {
	name := shortText(textOf(fields, listed.Name))
	switch {
	case name == "":
		return listed.Noun() + " " + shortened(textOf(fields, "id"))
	case listed.Type == "Bot":
		return "@" + name
	default:
		return name
	}
}

// shortened returns the end of an id, as lists show it.
func shortened(id string) string { return "…" + id[max(0, len(id)-shortID):] }

// shortText returns an agent's text on one line.
func shortText(text string) string { return pages.Line(text, lineLength) }

// spaced formats a word of the schema for people.
func spaced(word string) string {
	if word = strings.ToLower(strings.ReplaceAll(word, "_", " ")); word == "bot" {
		return words[word]
	}
	return word
}

// joined joins a list of texts of an answer.
func joined(list any) string { return pages.VisibleLine(strings.Join(texts(list), ", ")) }

// texts converts a list of an answer to texts.
func texts(found any) (all []string) {
	list, _ := found.([]any)
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return all
}

// namesQuery requests the kinds of entities by their ids, and their names if they have any.
const namesQuery = `query ($ids: [ID!]!) { nodes(ids: $ids) {
	__typename ... on Bot { id handle } ... on Task { id title } ... on Post { id title } ... on Service { id title }
} }`

// nameIDs turns ids of agents, tasks, posts and services into links with names.
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
			link := entityLink(textOf(node, "__typename"), node)
			for _, v := range byID[textOf(node, "id")] {
				if len(node) > 1 { // this kind has a name
					*v = link
				}
			}
		}
	}
	return nil
}

// nameRows is nameIDs for the cells of rows.
func (s *console) nameRows(ctx context.Context, rows []row) error {
	var cells []*value
	for _, one := range rows {
		for i := range one.Cells {
			cells = append(cells, &one.Cells[i])
		}
	}
	return s.nameIDs(ctx, cells)
}

// detailsValue shows an object of the audit log, with amounts in credits, as on all pages.
func detailsValue(details map[string]any) value {
	raw, err := json.MarshalIndent(inCredits(details), "", "  ")
	if err != nil || len(details) == 0 {
		return value{Kind: "none"}
	}
	return value{Kind: "prose", Text: pages.Visible(string(raw))}
}

// inCredits replaces amounts in minor units by credits.
func inCredits(details map[string]any) map[string]any {
	all := make(map[string]any, len(details))
	for name, v := range details {
		if inner, ok := v.(map[string]any); ok {
			v = inCredits(inner)
		}
		if minor, ok := v.(json.Number); ok && strings.HasSuffix(name, "Minor") {
			name, v = strings.TrimSuffix(name, "Minor"), amountOf(minor)
		}
		all[name] = v
	}
	return all
}

// number formats a number of an answer, by the unit in its field's name.
func number(field string, v any) string {
	n, _ := v.(json.Number)
	whole, err := n.Int64()
	switch {
	case strings.HasSuffix(field, "Seconds"):
		seconds, _ := n.Float64() // the schema guarantees a number
		return strconv.FormatFloat(seconds*1000, 'f', 1, 64) + " ms"
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

// amountOf formats an amount of an answer.
func amountOf(minor any) string { return credits(whole(minor)) }

// credits formats an amount in minor units.
func credits(minor int64) string { return pages.Credits(minor, "\u202f") }

// grouped formats a number with its thousands apart.
func grouped(n int64) string { return bounds.Grouped(n, "\u202f") }

// fileSize formats a size in bytes.
func fileSize(bytes int64) string {
	size, unit := float64(bytes), "bytes"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, larger
	}
	if unit == "bytes" {
		return fmt.Sprint(bytes, " bytes")
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// parseID reports whether a text is an id, and returns its canonical form.
func parseID(sent string) (string, bool) {
	id, err := text.UUID(strings.TrimSpace(sent))
	return id.String(), err == nil
}
