package report

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/postgres"
	"stoa/cmd/bench/profile"
	"stoa/cmd/bench/where"
)

//go:embed where.md.tmpl
var whereText string

var wherePage = template.Must(template.New("where").Funcs(template.FuncMap{"count": count}).Parse(whereText))

// Where holds the data of the chapter "Where the time goes".
type Where struct {
	Date          time.Time
	Took          time.Duration
	Commit        string
	Postgres      string
	Machine       machine.Description
	Plan          where.Plan
	Agents, Posts int
	// Mix says what the mix consists of.
	Mix     string
	Results []where.Result
}

// Chapter writes the chapter.
func (w *Where) Chapter(to io.Writer) error { return wherePage.Execute(to, w) }

// The lines around the chapter on its page.
const (
	chapterBegin = "<!-- where the time goes -->\n"
	chapterEnd   = "<!-- end of where the time goes -->\n"
)

// On returns a page with the chapter in the place of its predecessor, or at the end.
func (w *Where) On(page string) (string, error) {
	var text strings.Builder
	if err := w.Chapter(&text); err != nil {
		return "", err
	}
	whole := chapterBegin + text.String() + chapterEnd
	before, rest, found := strings.Cut(page, chapterBegin)
	if !found {
		return strings.TrimRight(page, "\n") + "\n\n" + whole, nil
	}
	_, after, ended := strings.Cut(rest, chapterEnd)
	if !ended {
		return "", errors.New("report: the chapter has no end: " + strings.TrimSpace(chapterEnd))
	}
	return before + whole + after, nil
}

// MixParts says what the mix consists of, an operation a line.
func (w *Where) MixParts() string { return strings.ReplaceAll(w.Mix, "; ", ";\n") }

// shown is how many rows a table of the chapter has at most.
const shown = 10

// least is the smallest part of all samples that gets a row.
const least = 0.005

// Workloads are the results, with their tables.
func (w *Where) Workloads() []workload {
	all := make([]workload, len(w.Results))
	for i, r := range w.Results {
		all[i] = workload{r}
	}
	return all
}

// Summary is the table of all workloads.
func (w *Where) Summary() string {
	var rows [][]string
	for _, r := range w.Results {
		statements, inner := 0.0, 0.0
		for _, s := range r.Statements {
			if s.Inner {
				inner += s.Calls
			} else {
				statements += s.Calls
			}
		}
		updated, hot := 0.0, 0.0
		for _, t := range r.Written.Tables {
			updated, hot = updated+t.Updated, hot+t.Hot
		}
		share := "–"
		if updated/r.WrittenOps >= 0.1 {
			share = fmt.Sprintf("%.0f %%", 100*hot/updated)
		}
		rows = append(rows, []string{
			r.Title, count(r.Connections), single(r.PerSecond), plain(r.Server), plain(r.Postgres), plain(r.Objects), plain(r.Bytes / (1 << 10)),
			plain(statements), plain(inner), plain(r.Changes.Commits), plain(r.Changes.IndexInserts), share,
			plain(r.Changes.Bytes - r.Changes.Images), plain(r.Changes.Images),
		})
	}
	return table([]string{
		"", "connections", "a second", "server µs", "PostgreSQL µs", "objects", "KiB", "statements", "inside functions", "commits", "index entries", "HOT", "WAL bytes", "page images",
	}, rows)
}

// Children says what the children of the server use that inspect files.
func (w *Where) Children() string {
	most := where.Result{}
	for _, r := range w.Results {
		if r.Children > most.Children {
			most = r
		}
	}
	if most.Children < 1 {
		return ""
	}
	const text = "The children of the server that inspect files take %s more of an %s, which is in no other figure."
	return fmt.Sprintf(text, singleDuration(most.Children), most.Unit)
}

// Matrix is the table of the costs of each layer in each workload, in microseconds.
func (w *Where) Matrix() string {
	header := []string{"layer"}
	for _, r := range w.Results {
		header = append(header, r.Name)
	}
	var rows [][]string
	for _, layer := range profile.Layers {
		row, used := []string{layer.Name}, false
		for _, r := range w.Results {
			part := profile.Parts(r.Processor.Layers)[layer.Name]
			used = used || part >= least
			row = append(row, plain(part*r.Server))
		}
		if used {
			rows = append(rows, row)
		}
	}
	return table(header, rows)
}

// Meanings lists what the layers are.
func (*Where) Meanings() string {
	var rows [][]string
	for _, layer := range profile.Layers {
		paths := "stacks of the runtime alone"
		if len(layer.Paths) > 0 {
			paths = strings.ReplaceAll("`"+strings.Join(layer.Paths, "`, `")+"`", "`stoa/", "`")
		}
		rows = append(rows, []string{layer.Name, layer.What, paths})
	}
	return table([]string{"layer", "what it does", "whose frames count for it"}, rows)
}

// Unused is the table of indexes that the mix writes and never reads.
func (w *Where) Unused() string {
	at := slices.IndexFunc(w.Results, func(r where.Result) bool { return r.Name == "mix" })
	if at < 0 {
		return ""
	}
	mix := w.Results[at]
	var rows [][]string
	for _, e := range mix.Changes.Indexes {
		index, known := mix.Written.Indexes[e.Index]
		if !known || index.Scans > 0 {
			continue
		}
		var readers []string
		for _, r := range w.Results {
			if r.Written.Indexes[e.Index].Scans > 0 {
				readers = append(readers, r.Name)
			}
		}
		why := ""
		if index.Needed {
			why = "a constraint"
		}
		rows = append(rows, []string{"`" + e.Index + "`", "`" + index.Table + "`", plain(e.Count), why, strings.Join(readers, ", ")})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"index", "table", "entries a request", "rests on it", "read by"}, rows)
}

// workload writes the tables of one result.
type workload struct{ where.Result }

// Layers is the table of the server's layers.
func (w workload) Layers() string {
	var rows [][]string
	for _, layer := range w.Processor.Layers {
		if layer.Part < least {
			continue
		}
		rows = append(rows, []string{
			layer.Name, plain(layer.Part * w.Server), percent(layer.Part), plain(w.AllocatedObjects[layer.Name] * w.Objects),
			plain(w.AllocatedBytes[layer.Name] * w.Bytes), w.parts("`%s` %s", layer.Of),
		})
	}
	return table([]string{"layer", "µs", "share", "objects", "bytes", "most in"}, rows)
}

// Running is the table of the functions of the server that ran.
func (w workload) Running() string {
	var rows [][]string
	for _, f := range w.Processor.Functions[:min(shown, len(w.Processor.Functions))] {
		rows = append(rows, []string{"`" + f.Name + "`", plain(f.Part * w.Server), percent(f.Part), w.parts("%s %s", f.Of)})
	}
	return table([]string{"function", "µs", "share", "for"}, rows)
}

// parts lists parts with their microseconds, each in a form.
func (w workload) parts(form string, parts []profile.Share) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Part >= least {
			texts = append(texts, fmt.Sprintf(form, cell(p.Name), plain(p.Part*w.Server)))
		}
	}
	return strings.Join(texts, ", ")
}

// InPostgres is the table of the functions of PostgreSQL that ran.
func (w workload) InPostgres() string {
	var rows [][]string
	for _, f := range w.Functions[:min(shown, len(w.Functions))] {
		rows = append(rows, []string{"`" + f.Name + "`", "`" + f.File + "`", plain(f.Part * w.Postgres), percent(f.Part)})
	}
	return table([]string{"function", "file", "µs", "share"}, rows)
}

// Files is the table of the files whose functions ran.
func (w workload) Files() string {
	var rows [][]string
	for _, o := range postgres.Files(w.Functions) {
		if o.Part >= least {
			rows = append(rows, []string{"`" + o.File + "`", plain(o.Part * w.Postgres), percent(o.Part)})
		}
	}
	return table([]string{"file", "µs", "share"}, rows)
}

// ServerTime and PostgresTime are the processor time of an operation.
func (w workload) ServerTime() string { return singleDuration(w.Server) }

// PostgresTime is described at ServerTime.
func (w workload) PostgresTime() string { return singleDuration(w.Result.Postgres) }

// Asked is the table of statements.
func (w workload) Asked() string {
	var rows [][]string
	for _, s := range w.Statements[:min(shown, len(w.Statements))] {
		each := max(s.Calls, 1e-9)
		text := "`" + cell(s.Text) + "`"
		if s.Inner {
			text = "↳ " + text
		}
		rows = append(rows, []string{
			text, plain(s.Calls), plain(s.Micros), plain(s.Micros / each), plain(s.Rows / each), plain(s.Hit / each), plain(s.Read / each),
			plain(s.Dirtied / each), plain(s.WAL),
		})
	}
	return table([]string{"statement", "calls", "µs", "µs a call", "rows", "hit", "read", "dirtied", "WAL bytes"}, rows)
}

// Changed is the table of tables and indexes that were written; empty if none were.
func (w workload) Changed() string {
	var rows [][]string
	for _, name := range sortedKeys(w.Written.Tables) {
		t := w.Written.Tables[name]
		n := max(w.WrittenOps, 1)
		if (t.Inserted+t.Updated+t.Deleted)/n < 0.01 {
			continue
		}
		var indexes []string
		entries := 0.0
		for _, e := range w.Changes.Indexes {
			if w.Written.Indexes[e.Index].Table == name {
				entries += e.Count
				indexes = append(indexes, fmt.Sprintf("`%s` %s", e.Index, plain(e.Count)))
			}
		}
		hot := "–"
		if t.Updated > 0 {
			hot = fmt.Sprintf("%.0f %%", 100*t.Hot/t.Updated)
		}
		rows = append(rows, []string{
			"`" + name + "`", plain(t.Inserted / n), plain(t.Updated / n), plain(t.Deleted / n), hot, plain(float64(t.Indexes)), plain(entries),
			strings.Join(indexes, ", "),
		})
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"table", "inserted", "updated", "deleted", "HOT", "indexes", "entries", "by index"}, rows)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// cell makes a text fit for a cell of a table.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }

// plain writes a figure with as many digits as it deserves.
func plain(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.01:
		return "< 0.01"
	case x < 10:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
	case x < 100:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	default:
		return decimal(x, 0)
	}
}

func percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }
