package console

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// exportFormats are the formats of an export.
var exportFormats = []string{"csv", "json"}

const (
	// exportSuffix ends the path of the form that exports a private list.
	exportSuffix = "/export"
	// An export must end within exportTimeout and has at most maxExport rows; if there are more, cut follows in place of an id.
	exportTimeout, maxExport = 2 * time.Minute, 10_000
	cut                      = "There are more: an export has 10,000 rows at most."
)

// exportPrivate answers the form of a private list with its export. First the audit log gets an entry with the list, its filters
// and the number of rows. Faults: invalid_input without a reason, not_found for another format.
func (s *console) exportPrivate(w http.ResponseWriter, r *http.Request, listed *Section) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return web.BodyError(err)
	}
	format := r.PostForm.Get("format")
	if !slices.Contains(exportFormats, format) {
		return fault.New(fault.NotFound)
	}
	l := readListing(listed, r.URL.Query())
	rows, err := s.count(r.Context(), l)
	if err != nil {
		return err
	}
	details := map[string]any{"format": format, "rows": rows}
	for name, values := range l.Query("", "") {
		details[name] = values[0]
	}
	if err := s.AuditExport(r.Context(), listed.Path[1:], details, r.PostForm.Get(reasonField)); err != nil {
		return err
	}
	return s.export(w, r, l, format, rows)
}

// count returns the number of rows of an export. If the list has no total, it reads the ids.
func (s *console) count(ctx context.Context, l *listing) (rows int, err error) {
	err = l.eachPage(ctx, s.ask, nil, operator.MaxPage, func() bool {
		if rows += len(l.nodes); l.Total != nil {
			rows = int(whole(l.Total))
		}
		return l.Total == nil && rows < maxExport
	})
	return min(rows, maxExport), err
}

// export answers with the matching rows, at most `most`, in CSV or as a JSON array, with the chosen columns or with all. It reads
// a page at a time and sends each at once; an error after the first page ends the answer early.
func (s *console) export(w http.ResponseWriter, r *http.Request, l *listing, format string, most int) error {
	columns := columnsOf(l.Section)
	if len(l.sent[columnsField]) > 0 {
		columns = l.columns
	}
	names := slices.DeleteFunc(slices.Concat([]string{"id", l.Name}, columns), func(name string) bool { return name == "" })
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(exportTimeout)) // a writer without deadlines needs none
	var (
		write         func(map[string]any) error
		end           func()
		written, gone = 0, false
	)
	err := l.eachPage(r.Context(), s.ask, columns, operator.MaxPage, func() bool {
		if write == nil {
			write, end = startRows(w, l.Section, format, names)
		}
		for _, node := range l.nodes[:min(len(l.nodes), most-written)] {
			if l.Correct(node); !slices.Contains(columns, l.Ended.time) {
				delete(node, l.Ended.time)
			}
			if gone = write(node) != nil; gone {
				return false
			}
		}
		written += len(l.nodes)
		gone = control.Flush() != nil
		return !gone && written < most
	})
	switch {
	case err != nil && write == nil:
		return err
	case err != nil:
		s.abort(r, l.Path, err)
	case !gone:
		if l.HasOlder || written > most {
			_ = write(map[string]any{"id": cut}) // fails only if the client has disconnected
		}
		end()
	}
	return nil
}

// abort breaks the connection, so that the client does not take a partial answer for the whole.
func (s *console) abort(r *http.Request, list string, err error) {
	s.Logger.ErrorContext(r.Context(), "an export ended early", "list", list, "error", err)
	panic(http.ErrAbortHandler)
}

// startRows begins an export in a format. write adds a row, end ends the export.
func startRows(w http.ResponseWriter, listed *Section, format string, names []string) (write func(map[string]any) error, end func()) {
	name := listed.Path[1:]
	if format == "csv" {
		return startCSV(w, name, names, names), func() {}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.json"`)
	lead := "[\n"
	return func(fields map[string]any) error {
			raw, err := json.Marshal(fields)
			if err == nil {
				_, err = w.Write(append([]byte(lead), raw...))
			}
			lead = ",\n"
			return err
		}, func() {
			tail := "\n]\n"
			if lead == "[\n" {
				tail = "[]\n"
			}
			_, _ = w.Write([]byte(tail)) // fails only if the client has disconnected
		}
}

// startCSV begins an answer in CSV that the browser saves. It returns a function that adds a row with the named fields.
func startCSV(w http.ResponseWriter, name string, header, names []string) func(fields map[string]any) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	out := csv.NewWriter(w)
	write := func(cells []string) error {
		_ = out.Write(cells) // Error returns its error
		out.Flush()
		return out.Error()
	}
	_ = write(header) // the next row fails, too
	return func(fields map[string]any) error { return write(cellsOf(fields, names)) }
}

// cellsOf returns members of an answer as texts, escaped so that a spreadsheet does not read them as formulas.
func cellsOf(data map[string]any, names []string) []string {
	cells := make([]string, len(names))
	for i, name := range names {
		switch v := data[name].(type) {
		case string:
			cells[i] = v
			if strings.IndexAny(v, "=+-@\t\r") == 0 {
				cells[i] = "'" + v
			}
		case json.Number:
			cells[i] = v.String()
		case bool:
			cells[i] = map[bool]string{true: "true", false: "false"}[v]
		case map[string]any:
			raw, _ := json.Marshal(v) //nolint:errchkjson // it was JSON
			cells[i] = string(raw)
			for _, key := range []string{"id", "host", "title", "handle"} {
				if text := textOf(v, key); text != "" && v["id"] != nil { // a record, and not the details of an act
					cells[i] = text
				}
			}
		}
	}
	return cells
}
