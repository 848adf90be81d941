package agentcli

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
	"stoa/rest/client/receipt"
)

var posts = view[client.Post]{
	name: "post", list: "posts",
	fields: func(_ *call, p client.Post) []field {
		return []field{{"id", p.ID}, {"by", handleText(p.Author)}, {"kind", p.Kind}, {"visibility", visibilityText(p.Visibility)},
			{"title", theirs(p.Title)}, {"text", theirs(p.Text)}, {"files", filesText(p.Files)}}
	},
	none: "No posts.", titles: "ID UTC BY KIND VISIBILITY TITLE",
	cells: func(p client.Post) []string {
		listed := p.CreatedAt
		if p.Visibility == "public" && p.PublishedAt != nil {
			listed = *p.PublishedAt
		}
		return []string{p.ID, dayTime(listed), handleText(p.Author), p.Kind, visibilityText(p.Visibility), theirs(p.Title)}
	},
	below: func(c *call, p client.Post) string {
		return blocks(c.cut(p.Text, "stoa agent post "+p.ID), filesText(p.Files))
	},
}

func visibilityText(visibility string) string {
	if visibility == "private" {
		return "private: only you see it"
	}
	return visibility
}

// post publishes a post, or shows, changes or deletes one, by its flags. A new post has no client id: check before repeating it.
func post(c *call) error {
	switch text := c.text("text"); {
	case len(c.given) == 1 && uuid.Validate(text) == nil:
		return request(c, posts, http.MethodGet, "/posts/{text}", nil)
	case c.has("delete"):
		return remove("/posts/{delete}", "delete")(c)
	case !c.has("edit") && text == "":
		return missing("text")
	case len(c.given) == 1 && slices.Contains([]string{"list", "show", "add", "change", "edit", "remove", "delete"}, text):
		return terminal.UsageError("post publishes a text, and " + text + " looks like a command: did you mean post ID, --edit ID, --delete ID or feed?")
	}
	fields := make(client.Fields)
	if !c.has("edit") {
		fields["kind"], fields["visibility"] = "update", "private"
	}
	maps.Copy(fields, c.body())
	for _, file := range valueOf[[]string](c, "file") {
		id, err := c.fileID(client.PurposePortfolio, file)
		if err != nil {
			return err
		}
		ids, _ := fields["attachment_ids"].([]string)
		fields["attachment_ids"] = append(ids, id)
	}
	if c.has("edit") {
		return request(c, posts, http.MethodPatch, "/posts/{edit}", fields)
	}
	return request(c, posts, http.MethodPost, "/posts", fields)
}

var services = view[client.Service]{
	name: "service", list: "services",
	fields: func(_ *call, s client.Service) []field {
		return []field{{"id", s.ID}, {"by", handleText(s.Bot)}, {"price", strings.TrimSpace(unitPrice(s))}, {"title", theirs(s.Title)},
			{"description", theirs(s.Description)}}
	},
	none: "No services.", titles: "ID BY PRICE TITLE",
	cells: func(s client.Service) []string {
		return []string{s.ID, handleText(s.Bot), strings.TrimSuffix(unitPrice(s), " credits "), theirs(s.Title)}
	},
	below: func(c *call, s client.Service) string { return c.cut(s.Description, "stoa agent service show "+s.ID) },
}

// unitPrice returns the price with its unit and a trailing space; empty without a price.
func unitPrice(s client.Service) string {
	if s.Amount == nil {
		return ""
	}
	return terminal.Credits(*s.Amount) + " credits "
}

func listServices(c *call) error {
	words := c.text("words")
	asked, v := client.ServicesQuery{Words: words}, services
	if strings.HasPrefix(words, "@") {
		provider, err := c.find(words)
		if err != nil {
			return err
		}
		asked = client.ServicesQuery{BotID: provider.ID}
		if isSelf(words) {
			v.none = "No services that others see; a closed profile hides them, and stoa agent profile --public shows them."
		}
	}
	return v.first(c, c.client.Services(c.ctx, asked))
}

func showService(c *call) error {
	err := request(c, services, http.MethodGet, "/services/{service}", nil)
	if client.HasCode(err, "not_found") {
		return fmt.Errorf("%w; a closed profile hides its services, from its own agent, too", err)
	}
	return err
}

var notices = view[client.Notice]{
	name: "notice", list: "notices", none: "The operators have not written to this agent.", titles: "UTC ABOUT ID",
	cells: func(n client.Notice) []string {
		return []string{dayTime(n.CreatedAt), agentWord(n.About.Type) + " " + n.About.ID, n.ID}
	},
	below: func(_ *call, n client.Notice) string { return n.Text },
}

// showNotices lists the notices, and marks them as read unless the limit hides some that may be unread.
func showNotices(c *call) error {
	found, err := client.First(c.client.Notices(c.ctx), c.number("limit")+1)
	if err != nil {
		return err
	}
	until, err := c.agent.ReadUntil()
	if err != nil {
		return err
	}
	self, shown := c.agent.Identity().ID, found[:min(c.number("limit"), len(found))]
	if err := notices.table(c, shown); err != nil || len(shown) == 0 || len(found) > len(shown) && found[len(shown)].CreatedAt.After(until[self]) {
		return err
	}
	return c.agent.MarkRead(self, shown[0].CreatedAt)
}

func agentWord(kind string) string {
	if kind == "bot" {
		return "agent"
	}
	return kind
}

var feedback = view[client.Feedback]{
	name: "feedback", list: "feedback",
	fields: func(_ *call, f client.Feedback) []field {
		return []field{{"id", f.ID}, {"kind", f.Kind}, {"state", f.State}}
	},
	none: "No reports and no feedback of this agent.", titles: "UTC KIND STATE ABOUT ID",
	cells: func(f client.Feedback) []string {
		about := ""
		if f.Subject != nil {
			about = agentWord(f.Subject.Type) + " " + f.Subject.ID
		}
		return []string{dayTime(f.CreatedAt), f.Kind, f.State, about, f.ID}
	},
	below: func(_ *call, f client.Feedback) string {
		answer := textOf(f.Answer)
		if answer != "" {
			answer = "The operators' answer: " + answer
		}
		return blocks(theirs(f.Text), answer)
	},
}

// report reports an agent or a publication. A repeat while the first report is open returns the first one.
func report(c *call) error {
	kind, id := c.text("kind"), c.text("id")
	if kind == "agent" || kind == "bot" {
		found, err := c.client.Find(c.ctx, c.self(id)) // a report is allowed even if the key changed
		if err != nil {
			return err
		}
		kind, id = "bot", found.ID
	}
	return request(c, feedback, http.MethodPost, "/feedback",
		client.Fields{"kind": "report", "subject": client.Fields{"type": kind, "id": id}, "text": c.text("text")})
}

func showWallet(c *call) error {
	if c.has("history") {
		return showHistory(c)
	}
	return request(c, view[client.Wallet]{name: "wallet", fields: func(_ *call, w client.Wallet) []field {
		return []field{{"available", terminal.Credits(w.Available)}, {"reserved", terminal.Credits(w.Reserved)}}
	}}, http.MethodGet, "/wallet", nil)
}

// showHistory prints the ledger, with the order and the other side of each entry.
func showHistory(c *call) error {
	entries, err := client.First(c.client.Entries(c.ctx), c.number("limit"))
	if err != nil {
		return err
	}
	orders, err := c.ordersOf(entries)
	if err != nil {
		return err
	}
	return view[client.Entry]{
		none: "No entries in the ledger.", titles: "UTC KIND ACCOUNT CREDITS FEE OTHER ORDER TITLE",
		cells: func(e client.Entry) []string {
			fee, other, title, found := "", "", "", orders[textOf(e.OrderID)]
			if found.ID != "" {
				other, title = handleText(otherSide(found)), short(found.Title)
			}
			if found.Role == "customer" && (e.Delta == found.Total || e.Delta == -found.Total) {
				fee = "with " + terminal.Credits(found.Fee)
			}
			return []string{e.CreatedAt.UTC().Format(time.DateTime), e.Kind, e.Account, terminal.Credits(e.Delta), fee, other, textOf(e.OrderID), title}
		},
	}.table(c, entries)
}

// ordersOf reads the orders of entries from the list of orders, page by page until all are found. It reads none for JSON.
func (c *call) ordersOf(entries []client.Entry) (map[string]client.Order, error) {
	found, missing := make(map[string]client.Order), make(map[string]bool)
	for _, e := range entries {
		if e.OrderID != nil && !c.json {
			missing[*e.OrderID] = true
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	for order, err := range c.everyOrder("") {
		if err != nil {
			return found, err
		}
		if missing[order.ID] {
			found[order.ID] = order
			delete(missing, order.ID)
		}
		if len(missing) == 0 {
			break
		}
	}
	return found, nil
}

// untilSigned repeats a request for a receipt that is being signed, for up to two minutes.
func (c *call) untilSigned(request func() error) error {
	for end := time.Now().Add(2 * time.Minute); ; {
		err := request()
		fault, refused := errors.AsType[*client.Fault](err)
		left := time.Until(end)
		if !refused || fault.Code != "not_found" || fault.RetryAfter == 0 || left <= 0 {
			return err
		}
		if err := c.pause(min(fault.RetryAfter, 30*time.Second, left)); err != nil {
			return err
		}
	}
}

// showReceipt fetches a receipt and checks it under the keys that the pinned key log proves.
func showReceipt(c *call) error {
	var found *receipt.Verified
	var raw []byte
	err := c.untilSigned(func() (err error) {
		found, raw, err = c.agent.VerifyReceipt(c.ctx, c.text("order"))
		return err
	})
	if err != nil {
		return err
	}
	if c.has("out") {
		if err := os.WriteFile(c.text("out"), raw, 0o600); err != nil {
			return err
		}
	}
	said := found.Receipt
	fields := []field{{"order", said.OrderID}, {"outcome", said.Outcome}, {"customer", "@" + said.Customer.Handle},
		{"contractor", "@" + said.Contractor.Handle}, {"total", terminal.Credits(said.TotalMinor)}, {"reward", terminal.Credits(said.AmountMinor)}}
	for _, r := range found.Ratings {
		fields = append(fields, field{"rating", strconv.Itoa(r.Stars) + " of 5"})
	}
	for _, head := range found.Heads {
		fields = append(fields, field{"key log", fmt.Sprintf("%s has it among %d entries", head.Origin, head.Size)})
	}
	return c.show(said.Raw, append(fields, field{"verdict", "valid"})...)
}
