package console

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// maxForm is the maximum size of a form in bytes, enough for the longest document with every character escaped.
const maxForm = 3 << 20

// formData holds the data of a form's page.
type formData struct {
	*procedure
	Fields []*field
	// SubjectID and SubjectName identify the target; Back leads to its page.
	SubjectID, SubjectName, Back string
	// Complaints concern the whole form, Wrong holds the wrong fields.
	Complaints []string
	Wrong      []*field
	// Task is the maintenance task chosen in the address; the result page shows only its result.
	Task string
	// The form that removes a file has the addresses of its picture, and of a form that shows it.
	Picture, Review string
	// Heading and Texts show the feedback that the form answers, or the thing that it removes.
	Heading, Texts string
	// Dossier holds an agent's orders as they would be after a suspension, and whether operators can mail its owner.
	Dossier map[string]any
	// Case holds the open reports about the agent of moderateBot, nil for none, and Position its place among the cases; Presets
	// are the operators' prepared texts. Returns is true for the form of a preset that leads back to a case.
	Case     map[string]any
	Position string
	Presets  []map[string]any
	Returns  string
	// Latest is the newest audit entry about the target of a guarded form; nil for none.
	Latest map[string]any
}

// Shuts reports whether the procedure can suspend an agent.
func (d *formData) Shuts() bool { return d.Name == "suspendBot" || d.Name == "moderateBot" }

// subjectQuery asks for the facts of an agent on a procedure's form and result page.
const subjectQuery = `dossier(botId: $id) { state owned mailable availableMinor reservedMinor sessions connections content { kind remaining } ifSuspended ` + tradeFields + ` }`

// prepare makes the form of a procedure for its target. Faults: not_found.
func (s *console) prepare(r *http.Request) (*formData, error) {
	i := slices.IndexFunc(procedures, func(p *procedure) bool { return p.Name == r.PathValue("name") })
	if i < 0 {
		return nil, fault.New(fault.NotFound)
	}
	data := &formData{procedure: procedures[i], Back: procedures[i].Home}
	var answer map[string]any
	var err error
	switch query := map[string]string{"writePreset": `{ ` + presetsQuery + ` }`, "updateSettings": settingsQuery}[data.Name]; {
	case query != "":
		answer, err = s.ask(r.Context(), query, nil)
	case data.Subject != "":
		answer, err = s.target(r, data)
	}
	if err != nil {
		return nil, err
	}
	if id, ok := parseID(r.URL.Query().Get("case")); ok && data.Name == "writePreset" {
		data.Returns, data.Back = id, casePath(id)
	}
	data.Fields = newForm(data.procedure, object(answer, "settings"))
	if data.Name == "moderateBot" {
		for _, f := range data.Fields {
			f.Label = cmp.Or(map[string]string{"answer": "To the reporters", "message": "To " + data.SubjectName}[f.Name], f.Label)
		}
	}
	if data.Dossier["state"] == "suspended" {
		data.Fields = slices.DeleteFunc(data.Fields, func(f *field) bool { return f.Name == "suspend" })
	}
	if task := r.URL.Query().Get("task"); data.Name == "runMaintenance" && data.Fields[0].offers(task) {
		data.Fields[0].Value, data.Task, data.Back = task, task, booksPath
	}
	if data.Guarded() {
		if err := s.setLatest(r, data, answer); err != nil {
			return nil, err
		}
	}
	data.preset(answer, r.URL.Query().Get("preset"))
	return data, s.draft(r, data)
}

// target sets the form's target and returns the whole answer.
func (s *console) target(r *http.Request, data *formData) (map[string]any, error) {
	sent, ok := parseID(r.URL.Query().Get("id"))
	listed, more := byType(data.Target), newestEntry(`target: "`+sent+`"`)
	if listed == nil || !ok {
		return nil, fault.New(fault.NotFound)
	}
	if data.Target == "Bot" {
		more = subjectQuery + newestEntry("botID: $id")
	}
	if data.Name == "moderateBot" {
		more += caseQuery
	}
	about := subjects[data.Name]
	id, node, found, err := s.node(r.Context(), listed, sent, `{ id `+listed.Name+` `+about.fields+` }`, more)
	if err != nil {
		return nil, err
	}
	data.SubjectID, data.SubjectName, data.Back, data.Dossier = id, nameOf(listed, node), listed.Path+"/"+id, object(found, "dossier")
	if data.Name == removeFile {
		s.showFile(r.Context(), data, node)
	}
	lines := []string{textOf(node, "title"), textOf(node, "text"), textOf(node, "description")}
	if node["stars"] != nil {
		lines = append([]string{fmt.Sprintf("%v of 5 by @%s for @%s", node["stars"], object(node, "author")["handle"], object(node, "subject")["handle"])}, lines...)
	}
	data.Heading, data.Texts = about.heading, strings.TrimSpace(strings.Join(lines, "\n"))
	return found, s.addSubjects(r.Context(), found)
}

// removeFile is the procedure whose form shows the file to remove.
const removeFile = "removeAttachment"

// subjects holds the heading and the shown fields of the target, for each form that shows its target.
var subjects = map[string]struct{ heading, fields string }{
	"answerFeedback": {"To be answered", "text"}, removeFile: {"", "boundKind boundID"},
	"removePost": {"To be removed", "title text"}, "removeTask": {"To be removed", "title description"},
	"removeService": {"To be removed", "title description"},
	"removeRating":  {"To be removed", "stars text author { handle } subject { handle }"},
}

// showFile sets the link to the file: public, or in the review of its order or post.
func (s *console) showFile(ctx context.Context, data *formData, node map[string]any) {
	kind, of := textOf(node, "boundKind"), textOf(node, "boundID")
	if data.Picture = s.picture(ctx, data.SubjectID); data.Picture != "" {
		return
	}
	if strings.HasPrefix(kind, "order") {
		data.Review = "/procedures/reviewOrder?id=" + of
	} else if kind == "post" {
		data.Review = "/procedures/reviewPost?id=" + of
	}
}

// picture returns the address of a file's picture; empty if not everyone may see it.
func (s *console) picture(ctx context.Context, id string) string {
	if id != "" {
		if _, err := s.Preview(ctx, attachments.AttachmentInput{AttachmentID: id}); err == nil {
			return facesPath + id + "/" + id
		}
	}
	return ""
}

// taskResults are the result fields of each maintenance task.
var taskResults = map[string][]string{
	"RECONCILE": {"discrepancies"}, "CLEANUP": {"swept"}, "LIFECYCLE": {"trashed", "notified", "deleted"}, "REWARDS": {"granted"}, "BACKUP": {"backup"},
}

// draft fills in the text of a mail to an owner if the form's address names a subject.
func (s *console) draft(r *http.Request, data *formData) error {
	about := map[string]any{"Agent": strings.TrimPrefix(data.SubjectName, "@"), "Origin": s.Public()}
	name := r.URL.Query().Get("about")
	body := slices.IndexFunc(data.Fields, func(f *field) bool { return f.Name == "body" })
	if data.Name != "mailOwner" || body < 0 || drafts.Lookup(name) == nil {
		return nil
	}
	if name == "order" {
		id, ok := parseID(r.URL.Query().Get("order"))
		if !ok {
			return nil
		}
		answer, err := s.ask(r.Context(), `query ($id: ID!) { `+tradeQuery+` }`, map[string]any{"id": id})
		if about["Trade"] = answer["trade"]; err != nil || answer["trade"] == nil {
			return err
		}
	}
	var text strings.Builder
	err := drafts.ExecuteTemplate(&text, name, about)
	data.Fields[body].Value = text.String()
	return err
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
	v := view{template: "form", Status: status, Title: data.Title, Path: data.Home, Data: data}
	if data.Case != nil {
		v.Title, v.Path = "Case of "+data.SubjectName, casesPath
	}
	return s.show(w, r, v)
}

// run runs a procedure and shows its result, or the form again with the complaints.
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
	if complaint := data.overtaken(r); complaint != "" {
		data.Complaints = []string{complaint}
		return s.showFormData(w, r, data, http.StatusConflict)
	}
	before, err := s.snapshot(r.Context(), data)
	if err != nil {
		return err
	}
	inner := typeOf(data.field.Type)
	asked := selectionSet(inner, 2) // all fields, for a result without a page
	switch {
	case IsEntity(inner) && data.Subject != "":
		asked = "{ id }"
	case data.Home == settingsPath:
		asked = "{ updatedAt }"
	}
	answer, err := s.ask(r.Context(), data.document(asked), variables)
	if found := new(refusal); errors.As(err, &found) {
		if data.Complaints = blame(data.Fields, found.known.Fields); len(found.known.Fields) == 0 {
			data.Complaints = []string{found.known.Text()}
		}
		return s.showFormData(w, r, data, cmp.Or(found.known.Status(), http.StatusInternalServerError))
	}
	if err != nil {
		return err
	}
	result := object(answer, data.Name)
	if data.Returns != "" {
		return seeOther(w, data.Back+"&"+url.Values{"preset": {textOf(result, "name")}}.Encode())
	}
	if data.Case != nil {
		to := url.Values{"after": {data.SubjectID}, "done": {data.SubjectID}}
		if data.Latest != nil {
			to.Set("since", textOf(data.Latest, "cursor"))
		}
		return seeOther(w, casesPath+"/next?"+to.Encode())
	}
	if own := taskResults[textOf(result, "task")]; own != nil {
		maps.DeleteFunc(result, func(name string, _ any) bool { return name != "task" && !slices.Contains(own, name) })
	}
	after, err := s.snapshot(r.Context(), data)
	if err != nil {
		return err
	}
	shown := resultData{formData: data, Reason: r.PostForm.Get(reasonField), Result: result, Changes: changes(before, after)}
	if data.Home != settingsPath && (!IsEntity(inner) || data.Subject == "") {
		shown.add("", inner, result)
	}
	if err := s.nameTables(r.Context(), shown.Tables); err != nil {
		return err
	}
	notice := "Done, and in the audit log."
	if variables["message"] != nil {
		if details, err := s.acted(r.Context(), data.Name, data.SubjectID, textOf(data.Latest, "cursor")); err == nil && details != nil {
			notice = "Done, and in the audit log: " + summary(details) + "."
		}
	}
	return s.show(w, r, view{template: "result", Title: data.Title, Path: data.Home, Notice: notice, Data: &shown})
}

// nameTables sets the names and pictures in the rows of a result.
func (s *console) nameTables(ctx context.Context, tables []table) error {
	for _, made := range tables {
		if err := s.nameRows(ctx, made.Rows); err != nil {
			return err
		}
		for i := range made.Rows {
			made.Rows[i].Picture = s.picture(ctx, made.Rows[i].FileID)
		}
	}
	return nil
}

// saveFile answers with a file of an order or a post, as uploaded, for the browser to save. It is a separate review with its own
// audit entry.
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
	_, _ = w.Write(bytes) //nolint:gosec // the browser saves it, because of its type
	return nil
}
