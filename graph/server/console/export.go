package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// exportPath leads to the export of a list with its filters.
func exportPath(listed *section, sent url.Values, format string) string {
	next := maps.Clone(sent)
	next.Del("after")
	next.Del("before")
	next.Set("format", format)
	return listed.Path + "?" + next.Encode()
}

// exportTimeout is the time in which an export must end.
const exportTimeout = 2 * time.Minute

// rowWriter writes the rows of an export.
type rowWriter interface {
	row(fields map[string]any) error
	end()
}

// export answers with every row that fits, at most maxExport, in CSV or as a JSON array. It reads a page at a time and writes each at
// once; an error after the first page ends the answer early. Faults: not_found (a private list, another format).
func (s *console) export(w http.ResponseWriter, r *http.Request, listed *section, format string, variables map[string]any) error {
	if listed.Private || format != "csv" && format != "json" {
		return fault.New(fault.NotFound)
	}
	var columns []string
	for _, field := range fieldsOf(schema.Types[listed.Type]) {
		if selection(field, 0) != "" && field.Name != "id" && field.Name != listed.Name {
			columns = append(columns, field.Name)
		}
	}
	names := append([]string{"id"}, columns...)
	if listed.Name != "" {
		names = append([]string{"id", listed.Name}, columns...)
	}
	next, size := "after", "first"
	if variables["last"] != nil { // newest first, backwards along the ids
		next, size = "before", "last"
	}
	variables[size] = operator.MaxPage
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(exportTimeout))
	var out rowWriter
	for written := 0; written < maxExport; {
		answer, err := s.ask(r.Context(), listQuery(listed, columns), variables)
		if err != nil && out == nil {
			return err
		}
		if err != nil {
			s.Logger.ErrorContext(r.Context(), "an export ended early", "list", listed.Path, "error", err)
			panic(http.ErrAbortHandler) // the client must not take it for whole
		}
		if out == nil {
			out = newRowWriter(w, listed, format, names)
		}
		found := object(answer, listed.Field)
		rows := objects(found, "edges")
		for i := range rows {
			one := rows[i]
			if next == "before" {
				one = rows[len(rows)-1-i]
			}
			if err := out.row(object(one, "node")); err != nil {
				return nil //nolint:nilerr // the client has gone away
			}
		}
		written += len(rows)
		info := object(found, "pageInfo")
		more, cursor := info["hasNextPage"], info["endCursor"]
		if next == "before" {
			more, cursor = info["hasPreviousPage"], info["startCursor"]
		}
		if more != true || len(rows) == 0 {
			break
		}
		variables[next] = cursor
	}
	out.end()
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
	out interface {
		Write(record []string) error
		Flush()
	}
	names []string
}

func (c *csvRows) row(fields map[string]any) error { return c.out.Write(cellsOf(fields, c.names)) }
func (c *csvRows) end()                            { c.out.Flush() }

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

func (j *jsonRows) end() {
	tail := "\n]\n"
	if !j.begun {
		tail = "[]\n"
	}
	_, _ = j.w.Write([]byte(tail)) // a client that has gone away needs no answer
}
