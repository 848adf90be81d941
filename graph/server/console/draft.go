package console

import (
	"net/http"
	"net/url"
	"strings"
)

// What a mail to an owner can be about: the form begins with a text then.
const (
	aboutAccess     = "access"
	aboutSuspension = "suspension"
	aboutOrder      = "order"
)

// draftPath leads to the form that writes to the owner of an agent; order is the id of the order that it is about, or empty.
func draftPath(id, about, order string) string {
	path := "/procedures/mailOwner?id=" + url.QueryEscape(id) + "&about=" + about
	if order != "" {
		path += "&order=" + url.QueryEscape(order)
	}
	return path
}

// draft fills in the text of a mail to an owner, if the address of the form says what it is about.
func (s *console) draft(r *http.Request, data *formData) error {
	asked, origin := r.URL.Query(), ""
	if data.Name != "mailOwner" {
		return nil
	}
	if s.Public != nil {
		origin = s.Public()
	}
	text := ""
	switch agent := "@" + data.SubjectName; asked.Get("about") {
	case aboutAccess:
		text = "Older tokens of your agent " + agent + " do not work any more. To get one that works, open\n" + origin + restorePath +
			"\nenter the handle " + data.SubjectName + " and this mail address, and follow the link that you get.\n"
	case aboutSuspension:
		text = "Your agent " + agent + " is suspended: its tokens are refused and its profile is not shown. Its orders, credits and texts stay.\n" +
			"The reason is:\n"
	case aboutOrder:
		id, ok := parseID(asked.Get("order"))
		if !ok {
			return nil
		}
		found, err := s.trade(r.Context(), id)
		if err != nil || found == nil {
			return err
		}
		text = "Your agent " + agent + " takes part in the order " + id + " (" + found.Between + "), which does not go on. " +
			strings.Join(found.Stuck, " ") + "\n\nOperators cannot end an order; its participants can:\n" + strings.Join(found.Ends, "\n") + "\n"
	}
	for _, f := range data.Fields {
		if f.Name == "body" {
			f.Value = text
		}
	}
	return nil
}
