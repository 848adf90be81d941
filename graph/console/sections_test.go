package console

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every connection of the schema has a section, which searches by conditions of the schema. TestEveryPage shows each column and
// filter, and follows each relation.
func TestSectionsAreTheConnections(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, s := range sections {
		listed[s.Field] = true
		require.Equal(t, s.Type+"Connection", Schema.Query.Fields.ForName(s.Field).Type.Name())
		for _, path := range s.Search {
			edge, name, nested := strings.Cut(path, ".")
			condition := whereOf(&s).Fields.ForName(edge)
			require.NotNil(t, condition, "%s: %s", s.Type, path)
			require.True(t, !nested || typeOf(condition.Type).Fields.ForName(name) != nil, "%s: %s", s.Type, path)
		}
	}
	for _, field := range Schema.Query.Fields {
		require.True(t, listed[field.Name] || !strings.HasSuffix(field.Type.Name(), "Connection"), "no section lists %s", field.Name)
	}
}

// Every condition of the schema is used: in a list's filters, its search or links to it, or by the command line.
func TestEveryConditionIsUsed(t *testing.T) {
	t.Parallel()
	offered := map[string]bool{}
	for _, name := range []string{"Bot.handle", "Mail.sentAtNotNil"} { // the command line
		offered[name] = true
	}
	for _, s := range sections {
		for _, path := range slices.Concat(s.Search, s.Filters) {
			name, _, _ := strings.Cut(path, ".")
			offered[s.Type+"."+name] = true
			if other, negated := opposite(&s, name); negated {
				offered[s.Type+"."+other] = true
			}
		}
	}
	for _, listed := range sections {
		for _, p := range listed.Presets {
			for conditions := []map[string]any{p.where(time.Now())}; len(conditions) > 0; conditions = conditions[1:] {
				for name, v := range conditions[0] {
					offered[listed.Type+"."+name] = true
					inner, _ := v.([]map[string]any)
					conditions = append(conditions, inner...)
				}
			}
		}
	}
	always := []string{"not", "and", "or", "createdAtGTE", "createdAtLT"}
	for name, input := range Schema.Types {
		entity, found := strings.CutSuffix(name, "WhereInput")
		for _, field := range input.Fields {
			if found && field.Type.Name() != "ID" && !slices.Contains(always, field.Name) {
				require.True(t, offered[entity+"."+field.Name], "no list filters by %s.%s: see cmd/generate/ent/main.go", entity, field.Name)
			}
		}
	}
}

func TestHuman(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"emailVerifiedAt": "Email verified", "closedAtGTE": "Closed since", "jobs.pauseQueue": "Jobs: pause queue", "botID": "Agent", "suspendBot": "Suspend agent", "removeAttachment": "Remove file", "in_progress": "In progress",
		"topUpWallet": "Top up wallet", "totalMinor": "Total", "id": "Id", "CREATED_AT": "Created", "feeBps": "Fee", "sizeBytes": "Size", "tookSeconds": "Took",
	} {
		require.Equal(t, want, Human(name), name)
	}
}

func TestNumbersAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1\u202f234\u202f567", grouped(1234567))
	require.Equal(t, "−12.05", credits(-1205))
	require.Equal(t, "-123\u202f456", grouped(-123456))
	require.Equal(t, "999 bytes", fileSize(999))
	require.Equal(t, "1.5 MiB", fileSize(3<<19))
	require.Equal(t, "0.5 ms", number("tookSeconds", json.Number("0.00049105")))
}

// An amount consists of digits, with at most two after a point, so that a typing error pays nothing.
func TestFormFieldsParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, sent string
		want       any
	}{
		{"credits", "12.50", int64(1250)}, {"credits", " 0.01 ", int64(1)}, {"credits", "10000000000", int64(1_000_000_000_000)}, {"credits", "1.005", nil}, {"credits", "NaN", nil}, {"credits", "0", nil}, {"credits", "-1", nil}, {"credits", "10000000000.01", nil},
		{"credits", "1e300", nil}, {"credits", "x", nil}, {"credits", "1e3", nil}, {"credits", "+5", nil}, {"credits", "0x10", nil}, {"credits", "1_000", nil},
		{"credits", "1,50", nil}, {"credits", "1 000", nil}, {"credits", ".5", nil}, {"credits", "5.", nil}, {"credits", "Inf", nil}, {"credits", "٣", nil},
		{"credits", "7", int64(700)}, {"credits", "0.5", int64(50)}, {"number", "-3", int64(-3)}, {"number", "1.5", nil}, {"number", "", nil},
		{"time", "2026-11-24T10:00", "2026-11-24T10:00:00Z"}, {"time", "2026-11-24T10:00:00+02:00", "2026-11-24T08:00:00Z"}, {"time", "soon", nil},
	} {
		f := field{Kind: c.kind, Value: c.sent, Required: true}
		v, wrong := f.parse()
		require.Equal(t, c.want, v, "%s %q", c.kind, c.sent)
		require.Equal(t, c.want == nil, wrong != "", "%s %q", c.kind, c.sent)
	}
}
