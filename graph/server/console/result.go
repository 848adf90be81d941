package console

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// resultData holds the result of a procedure.
type resultData struct {
	*formData
	// Reason is that of the procedure.
	Reason string
	Facts  []fact
	Tables []table
}

// table is a list within a result.
type table struct {
	Caption string
	Columns []string
	Rows    []tableRow
}

type tableRow struct {
	Cells []value
	// FileID is that of a file that can be saved; empty for any other row.
	FileID string
}

// add adds the fields of an object: values as facts, lists of objects as tables. prefix begins the labels of an object within
// another.
func (d *resultData) add(prefix string, of *ast.Definition, fields map[string]any) {
	for _, field := range fieldsOf(of) {
		inner := typeOf(field.Type)
		label := human(field.Name)
		if prefix != "" {
			label = prefix + ": " + strings.ToLower(label)
		}
		switch {
		case inner.IsLeafType() || isEntity(inner):
			if raw, asked := fields[field.Name]; asked {
				d.Facts = append(d.Facts, fact{label, field.Description, newValue(of.Name, field, raw, false)})
			}
		case field.Type.Elem != nil:
			d.addTable(label, inner, objects(fields, field.Name))
		case fields[field.Name] != nil:
			d.add(label, inner, object(fields, field.Name))
		}
	}
}

func (d *resultData) addTable(caption string, of *ast.Definition, rows []map[string]any) {
	made := table{Caption: caption}
	var columns []*ast.FieldDefinition
	for _, field := range fieldsOf(of) {
		if typeOf(field.Type).IsLeafType() && !strings.HasSuffix(field.Name, "Url") { // files are saved by the form
			columns = append(columns, field)
			made.Columns = append(made.Columns, human(field.Name))
		}
	}
	for _, fields := range rows {
		var r tableRow
		for _, column := range columns {
			r.Cells = append(r.Cells, newValue(of.Name, column, fields[column.Name], column.Name != "reason"))
		}
		if id, ok := fields["id"].(string); ok && of.Name == "AttachmentCard" && fields["available"] == true {
			r.FileID = id
		}
		made.Rows = append(made.Rows, r)
	}
	d.Tables = append(d.Tables, made)
}
