package console

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// exportFormats are those of exports.
var exportFormats = []string{"csv", "json"}

// exportSuffix ends the path that takes the form of a private list's export.
const exportSuffix = "/export"

// exportPath leads to the export of a list with its filters.
func exportPath(asked *listing, format string) string {
	next := asked.whole()
	next.Set("format", format)
	return pathWith(asked.Path, next)
}

// exportPrivate answers the form of a private list with its export, after the audit log has an entry with the list, its filters and how
// many rows it had. Faults: invalid_input without a reason, not_found for another format.
func (s *console) exportPrivate(w http.ResponseWriter, r *http.Request, listed *section) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return web.BodyError(err)
	}
	format := r.PostForm.Get("format")
	if !slices.Contains(exportFormats, format) || s.AuditExport == nil {
		return fault.New(fault.NotFound)
	}
	asked := readListing(listed, r.URL.Query(), zoneOf(r))
	rows, err := s.count(r.Context(), asked)
	if err != nil {
		return err
	}
	details := map[string]any{"format": format, "rows": rows}
	for name := range asked.whole() {
		details[name] = asked.whole().Get(name)
	}
	if err := s.AuditExport(r.Context(), listed.Path[1:], details, r.PostForm.Get(reasonField)); err != nil {
		return err
	}
	return s.export(w, r, asked, format, rows)
}

// count is how many rows an export will have. A list without a total is read for its ids.
func (s *console) count(ctx context.Context, asked *listing) (int, error) {
	rows := 0
	err := s.eachPage(ctx, asked, nil, func(found map[string]any) bool {
		if total, counted := found["totalCount"]; counted {
			rows = int(min(whole(total), maxExport))
			return false
		}
		rows = min(rows+len(objects(found, "edges")), maxExport)
		return rows < maxExport
	})
	return rows, err
}

// eachPage reads everything that is asked for, a page at a time, until use returns false.
func (s *console) eachPage(ctx context.Context, asked *listing, columns []string, use func(found map[string]any) bool) error {
	variables := maps.Clone(asked.variables)
	delete(variables, "after")
	delete(variables, "before")
	next, size := "after", "first"
	if asked.reversed { // newest first, backwards along the ids
		next, size = "before", "last"
	}
	variables[size] = operator.MaxPage
	for {
		answer, err := s.ask(ctx, listQuery(asked.section, columns), variables)
		if err != nil {
			return err
		}
		found := object(answer, asked.Field)
		info := object(found, "pageInfo")
		more, cursor := info["hasNextPage"], info["endCursor"]
		if asked.reversed {
			more, cursor = info["hasPreviousPage"], info["startCursor"]
		}
		if !use(found) || more != true || len(objects(found, "edges")) == 0 {
			return nil
		}
		variables[next] = cursor
	}
}

// exportTimeout is the time in which an export must end.
const exportTimeout = 2 * time.Minute

// rowWriter writes the rows of an export.
type rowWriter interface {
	row(fields map[string]any) error
	flush() error
	end()
}

// export answers with every row that fits, at most `most`, in CSV or as a JSON array, with the chosen columns or with all. It reads a page
// at a time and sends each at once; an error after the first page ends the answer early.
func (s *console) export(w http.ResponseWriter, r *http.Request, asked *listing, format string, most int) error {
	columns := columnsOf(asked.section)
	if len(asked.sent[columnsField]) > 0 {
		columns = asked.columns
	}
	names := append([]string{"id"}, columns...)
	if asked.Name != "" {
		names = append([]string{"id", asked.Name}, columns...)
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(exportTimeout)) // a writer without deadlines needs none
	var out rowWriter
	written, gone := 0, false
	err := s.eachPage(r.Context(), asked, columns, func(found map[string]any) bool {
		if out == nil {
			out = newRowWriter(w, asked.section, format, names)
		}
		rows := objects(found, "edges")
		if asked.reversed {
			slices.Reverse(rows)
		}
		for _, one := range rows[:min(len(rows), most-written)] {
			if gone = out.row(object(one, "node")) != nil; gone {
				return false
			}
		}
		written += len(rows)
		gone = out.flush() != nil || control.Flush() != nil
		return !gone && written < most
	})
	switch {
	case err != nil && out == nil:
		return err
	case err != nil:
		s.Logger.ErrorContext(r.Context(), "an export ended early", "list", asked.Path, "error", err)
		panic(http.ErrAbortHandler) // the client must not take it for whole
	case !gone:
		out.end()
	}
	return nil
}

func newRowWriter(w http.ResponseWriter, listed *section, format string, names []string) rowWriter {
	if format == "csv" {
		return &csvRows{startCSV(w, listed.Path[1:], names), names}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="`+listed.Path[1:]+`.json"`)
	return &jsonRows{w: w}
}

// csvRows writes rows in CSV.
type csvRows struct {
	out   *csv.Writer
	names []string
}

func (c *csvRows) row(fields map[string]any) error { return c.out.Write(cellsOf(fields, c.names)) }
func (c *csvRows) end()                            { c.out.Flush() }

func (c *csvRows) flush() error {
	c.out.Flush()
	return c.out.Error()
}

// jsonRows writes rows as an array of objects, a line each.
type jsonRows struct {
	w     http.ResponseWriter
	begun bool
}

func (j *jsonRows) row(fields map[string]any) error {
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	lead := ",\n"
	if !j.begun {
		j.begun, lead = true, "[\n"
	}
	_, err = j.w.Write(append([]byte(lead), raw...))
	return err
}

func (j *jsonRows) flush() error { return nil }

func (j *jsonRows) end() {
	tail := "\n]\n"
	if !j.begun {
		tail = "[]\n"
	}
	_, _ = j.w.Write([]byte(tail)) // a client that has gone away needs no answer
}
