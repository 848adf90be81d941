package console

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// maxForm is the size of a form in bytes: it holds the longest text of a document, every character escaped.
const maxForm = 3 << 20

// formData holds the data of a form's page.
type formData struct {
	*procedure
	Fields []*field
	// SubjectID and SubjectName identify the target; Back leads to its page.
	SubjectID, SubjectName, Back string
	// Complaints concern the form as a whole, Wrong holds the fields with complaints.
	Complaints []string
	Wrong      []*field
	// Shuts: it can suspend an agent, whose open orders are Trades.
	Shuts  bool
	Trades []map[string]any
	// Owned: the agent's owner can restore access by mail. Mailable: operators can mail its owner.
	Owned, Mailable bool
}

// prepare makes the form of a procedure. Faults: not_found.
func (s *console) prepare(r *http.Request) (*formData, error) {
	p := findProcedure(r.PathValue("name"))
	if p == nil {
		return nil, fault.New(fault.NotFound)
	}
	data := &formData{procedure: p, Back: p.Home}
	if p.Subject != "" {
		if err := s.subject(r, data); err != nil {
			return nil, err
		}
	}
	var current map[string]any
	if p.Name == "updateSettings" {
		answer, err := s.ask(r.Context(), settingsQuery, nil)
		if err != nil {
			return nil, err
		}
		current = object(answer, "settings")
	}
	data.Fields = newForm(p, current)
	return data, s.draft(r, data)
}

// subject finds the target of a procedure, and what would become of its orders if it were suspended. Faults: not_found.
func (s *console) subject(r *http.Request, data *formData) error {
	id, ok := parseID(r.URL.Query().Get("id"))
	listed := byType(data.Target)
	if !ok || listed == nil {
		return fault.New(fault.NotFound)
	}
	more := ""
	if data.Shuts = data.Name == "suspendBot" || data.Name == "moderateBot"; data.Shuts {
		more = `dossier(botId: $id) { ifSuspended ` + tradeFields + ` }`
	}
	node, answer, err := s.node(r.Context(), listed, id, `{ id `+listed.Name+` }`, more)
	if err != nil {
		return err
	}
	if node == nil {
		return fault.New(fault.NotFound)
	}
	data.SubjectID, data.SubjectName, data.Back = id, nameOf(listed, node), listed.Path+"/"+id
	data.Trades = objects(object(answer, "dossier"), "ifSuspended")
	return nil
}

// draft fills in the text of a mail to an owner, if the address of the form says what it is about.
func (s *console) draft(r *http.Request, data *formData) error {
	if data.Name != "mailOwner" {
		return nil
	}
	origin, text, agent := "", "", "@"+data.SubjectName
	if s.Public != nil {
		origin = s.Public()
	}
	switch asked := r.URL.Query(); asked.Get("about") {
	case aboutAccess:
		text = "Older tokens of your agent " + agent + " do not work any more. To get one that works, open\n" + origin + restorePath +
			"\nenter the handle " + data.SubjectName + " and this mail address, and follow the link that you get.\n"
	case aboutSuspension:
		text = "Your agent " + agent + " is suspended: its tokens are refused and its profile is not shown. Its orders, credits and texts stay.\n" +
			"The reason is:\n"
	case "order":
		id, ok := parseID(asked.Get("order"))
		if !ok {
			return nil
		}
		answer, err := s.ask(r.Context(), `query ($id: ID!) { trade(orderId: $id) `+tradeFields+` }`, map[string]any{"id": id})
		found := object(answer, "trade")
		if err != nil || found == nil {
			return err
		}
		text = "Your agent " + agent + " takes part in the order " + id + " (" + between(found) + "), which does not go on. " +
			strings.Join(texts(found, "stuck"), " ") + "\n\nOperators cannot end an order; its participants can:\n" + strings.Join(texts(found, "ends"), "\n") + "\n"
	}
	for _, f := range data.Fields {
		if f.Name == "body" {
			f.Value = text
		}
	}
	return nil
}

// showForm shows the form of a procedure.
func (s *console) showForm(w http.ResponseWriter, r *http.Request) error {
	data, err := s.prepare(r)
	if err != nil {
		return err
	}
	return s.showFormData(w, r, data, http.StatusOK)
}

func (s *console) showFormData(w http.ResponseWriter, r *http.Request, data *formData, status int) error {
	for _, f := range data.Fields {
		f.choose()
		if f.Error != "" {
			data.Wrong = append(data.Wrong, f)
		}
	}
	slices.Sort(data.Complaints)
	return s.show(w, r, view{
		template: "form", status: status, Title: data.Title, Path: data.Home, Failed: status != http.StatusOK, Data: data,
	})
}

// run carries a procedure out and shows its result, or the form again with the complaints.
func (s *console) run(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return web.BodyError(err)
	}
	data, err := s.prepare(r)
	if err != nil {
		return err
	}
	variables, ok := fill(data.Fields, r.PostForm)
	if !ok {
		return s.showFormData(w, r, data, http.StatusBadRequest)
	}
	if data.Subject != "" {
		variables[data.Subject] = data.SubjectID
	}
	if file, sent := parseID(r.PostForm.Get("file")); sent && strings.HasPrefix(data.Name, "review") {
		return s.saveFile(w, r, data, variables, file)
	}
	before, err := s.snapshot(r.Context(), data)
	if err != nil {
		return err
	}
	result, err := s.carryOut(r.Context(), data.procedure, variables)
	if err != nil {
		return s.refuse(w, r, data, err)
	}
	after, err := s.snapshot(r.Context(), data)
	if err != nil {
		return err
	}
	shown := resultData{formData: data, Reason: r.PostForm.Get(reasonField), Changes: changes(before, after)}
	if inner := typeOf(data.field.Type); data.Home != settingsPath && (!isEntity(inner) || data.Subject == "") {
		shown.add("", inner, result)
	}
	if data.Target == "Bot" {
		answer, err := s.ask(r.Context(), `query ($id: ID!) { dossier(botId: $id) { owned mailable } }`, map[string]any{"id": data.SubjectID})
		if err != nil {
			return err
		}
		found := object(answer, "dossier")
		data.Owned, data.Mailable = found["owned"] == true, found["mailable"] == true
	}
	if s.Public != nil {
		shown.advise(s.Public(), result)
	}
	var cells []*value
	for t := range shown.Tables {
		for _, made := range shown.Tables[t].Rows {
			for i := range made.Cells {
				cells = append(cells, &made.Cells[i])
			}
		}
	}
	if err := s.nameIDs(r.Context(), cells); err != nil {
		return err
	}
	return s.show(w, r, view{
		template: "result", Title: data.Title, Path: data.Home, Notice: "Done, and in the audit log.", Data: shown,
	})
}

// carryOut runs the mutation. A result without a page is asked for as a whole.
func (s *console) carryOut(ctx context.Context, p *procedure, variables map[string]any) (map[string]any, error) {
	inner := typeOf(p.field.Type)
	asked := selectionSet(inner, 2)
	switch {
	case isEntity(inner) && p.Subject != "":
		asked = "{ id }"
	case p.Home == settingsPath:
		asked = "{ updatedAt }"
	}
	answer, err := s.ask(ctx, p.document(asked), variables)
	return object(answer, p.Name), err
}

// refuse shows the form again with what the procedure found wrong.
func (s *console) refuse(w http.ResponseWriter, r *http.Request, data *formData, err error) error {
	found := new(refusal)
	if !errors.As(err, &found) {
		return err
	}
	data.Complaints = blame(data.Fields, found.known.Fields)
	if len(found.known.Fields) == 0 {
		data.Complaints = []string{found.known.Text()}
	}
	return s.showFormData(w, r, data, cmp.Or(found.known.Status(), http.StatusInternalServerError))
}

// saveFile answers with one of the files of an order or a post, as it was uploaded, for the browser to save. It is another review,
// with its own audit entry.
func (s *console) saveFile(w http.ResponseWriter, r *http.Request, data *formData, variables map[string]any, id string) error {
	document := strings.Replace(data.document("{ file(id: $file) }"), "mutation (", "mutation ($file: ID!, ", 1)
	variables["file"] = id
	answer, err := s.ask(r.Context(), document, variables)
	if err != nil {
		return err
	}
	encoded, _ := object(answer, data.Name)["file"].(string)
	bytes, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+id+`"`)
	_, _ = w.Write(bytes) //nolint:gosec // a file to save, of no type that a browser shows
	return nil
}
