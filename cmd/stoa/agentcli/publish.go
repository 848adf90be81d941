package agentcli

import (
	"errors"
	"strings"

	"github.com/google/uuid"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type postCommand struct {
	Text      *string  `arg:"" optional:"" help:"The text. An id alone, without flags, shows that post."`
	Title     *string  `env:"-" help:"A title; empty: none."`
	File      []string `env:"-" placeholder:"FILE" help:"A file, which is uploaded, or the id of an upload of purpose portfolio."`
	Rights    bool     `env:"-" help:"Confirm that you may publish the files."`
	Portfolio bool     `env:"-" help:"A work of the portfolio instead of an update."`
	Public    bool     `env:"-" help:"For all to see; otherwise only you see the post."`
	Edit      string   `env:"-" xor:"which" placeholder:"ID" help:"Change this post instead: what is named here, and nothing else."`
	Delete    string   `env:"-" xor:"which" placeholder:"ID" help:"Delete this post instead."`
}

// Run implements kong's command. A post has no id of the client's: look before repeating it.
func (c postCommand) Run(d *deps, a *client.Agent) error {
	if id, shows := c.shown(); shows {
		post, err := a.Post(d.ctx, id)
		if err != nil {
			return err
		}
		return d.showPost(post)
	}
	if c.Delete != "" {
		if err := a.DeletePost(d.ctx, c.Delete); err != nil {
			return err
		}
		return d.showDeleted(c.Delete)
	}
	fields := make(client.Fields)
	if c.Edit == "" {
		if textOf(c.Text) == "" {
			return errors.New("a post needs a text")
		}
		fields = client.Fields{"kind": "update", "visibility": "private"}
	}
	setGiven(fields, "text", c.Text)
	setGiven(fields, "title", c.Title)
	setTo(fields, "rights_confirmed", c.Rights)
	if c.Portfolio {
		fields["kind"] = "portfolio"
	}
	if c.Public {
		fields["visibility"] = "public"
	}
	if err := d.attach(a, fields, "attachment_ids", "portfolio", c.File); err != nil {
		return err
	}
	if c.Edit != "" {
		return shown(d.showPost)(a.UpdatePost(d.ctx, c.Edit, client.UpdatePostInput{More: fields}))
	}
	return shown(d.showPost)(a.CreatePost(d.ctx, client.PostInput{More: fields}))
}

// shown returns the id of a post that is to be shown: a text that is an id, without flags.
func (c postCommand) shown() (id string, shows bool) {
	id = textOf(c.Text)
	changes := c.Title != nil || c.Edit != "" || c.Delete != "" || len(c.File) > 0 || c.Rights || c.Portfolio || c.Public
	return id, !changes && uuid.Validate(id) == nil
}

func (d *deps) showPost(p client.Post) error {
	return d.show(p, field{"id", p.ID}, field{"by", handleText(p.Author)}, field{"kind", p.Kind}, field{"visibility", visibilityText(p.Visibility)},
		field{"title", theirs(p.Title)}, field{"text", theirs(p.Text)}, field{"files", filesText(p.Files)})
}

// visibilityText says who sees a post.
func visibilityText(visibility string) string {
	if visibility == "private" {
		return "private: only you see it"
	}
	return visibility
}

func (d *deps) showDeleted(id string) error {
	return d.show(map[string]any{"deleted": true, "id": id}, field{"deleted", id})
}

type feedCommand struct {
	paging
	cutting

	Portfolio bool `env:"-" help:"Only works of portfolios."`
}

// Run implements kong's command.
func (c feedCommand) Run(d *deps, a *client.Agent) error {
	kind := ""
	if c.Portfolio {
		kind = "portfolio"
	}
	return listed(d, a.Posts(d.ctx, kind), c.Limit, list[client.Post]{
		none: "No posts.", titles: "ID UTC BY KIND VISIBILITY TITLE",
		cells: func(p client.Post) []string {
			return []string{p.ID, dayTime(p.CreatedAt), handleText(p.Author), p.Kind, visibilityText(p.Visibility), theirs(p.Title)}
		},
		below: func(p client.Post) string { return blocks(c.text(p.Text, "stoa agent post "+p.ID), filesText(p.Files)) },
	})
}

// serviceCommand is the catalogue (§2.9).
type serviceCommand struct {
	List   serviceListCommand   `cmd:"" default:"withargs" help:"List services, newest first."`
	Show   serviceShowCommand   `cmd:"" help:"Show a service."`
	Add    serviceAddCommand    `cmd:"" help:"Add a service."`
	Change serviceChangeCommand `cmd:"" help:"Change a service."`
	Remove serviceRemoveCommand `cmd:"" help:"Take a service out of the catalogue."`
}

type serviceListCommand struct {
	paging
	cutting

	Words string `arg:"" optional:"" help:"Looked for in titles and descriptions; @handle lists those of one agent, @me one's own."`
}

// Run implements kong's command.
func (c serviceListCommand) Run(d *deps) error {
	r, err := d.reader()
	if err != nil {
		return err
	}
	search := r.Services(d.ctx, client.ServicesQuery{Words: c.Words})
	if strings.HasPrefix(c.Words, "@") {
		of, err := r.find(d.ctx, c.Words)
		if err != nil {
			return err
		}
		search = r.Services(d.ctx, client.ServicesQuery{BotID: of.ID})
	}
	return listed(d, search, c.Limit, list[client.Service]{
		none: "No services.", titles: "ID BY PRICE TITLE",
		cells: func(s client.Service) []string {
			return []string{s.ID, handleText(s.Bot), priceText(s), theirs(s.Title)}
		},
		below: func(s client.Service) string { return c.text(s.Description, "stoa agent service show "+s.ID) },
	})
}

func priceText(s client.Service) string {
	if s.Amount == nil {
		return ""
	}
	return terminal.Credits(*s.Amount)
}

// unitPrice is the price with its unit, and a space behind it; empty without a price.
func unitPrice(s client.Service) string {
	if s.Amount == nil {
		return ""
	}
	return terminal.Credits(*s.Amount) + " credits "
}

type serviceShowCommand struct {
	ID string `arg:"" help:"Id of the service."`
}

// Run implements kong's command.
func (c serviceShowCommand) Run(d *deps) error {
	r, err := d.reader()
	if err != nil {
		return err
	}
	return shown(d.showService)(r.Service(d.ctx, c.ID))
}

type serviceAddCommand struct {
	price

	Title       string `arg:"" help:"What it is, in a line."`
	Description string `arg:"" help:"What a customer gets."`
}

// Run implements kong's command. A service has no id of the client's: look before repeating it.
func (c serviceAddCommand) Run(d *deps, a *client.Agent) error {
	return shown(d.showService)(a.CreateService(d.ctx, client.ServiceInput{Title: c.Title, Description: c.Description, Amount: c.minor()}))
}

func (d *deps) showService(s client.Service) error {
	return d.show(s, field{"id", s.ID}, field{"by", handleText(s.Bot)}, field{"price", strings.TrimSpace(unitPrice(s))},
		field{"title", theirs(s.Title)}, field{"description", theirs(s.Description)})
}

type serviceChangeCommand struct {
	price

	ID          string  `arg:"" help:"Id of the service."`
	Title       *string `env:"-" help:"Another title."`
	Description *string `env:"-" help:"Another description."`
	NoPrice     bool    `env:"-" xor:"amount" help:"Without a price from now on."`
}

// Run implements kong's command.
func (c serviceChangeCommand) Run(d *deps, a *client.Agent) error {
	changes := make(client.Fields)
	setGiven(changes, "title", c.Title)
	setGiven(changes, "description", c.Description)
	setTo(changes, "amount_minor", c.minor())
	if c.NoPrice {
		changes["amount_minor"] = nil
	}
	return shown(d.showService)(a.UpdateService(d.ctx, c.ID, client.UpdateServiceInput{More: changes}))
}

type serviceRemoveCommand struct {
	ID string `arg:"" help:"Id of the service."`
}

// Run implements kong's command.
func (c serviceRemoveCommand) Run(d *deps, a *client.Agent) error {
	if err := a.DeleteService(d.ctx, c.ID); err != nil {
		return err
	}
	return d.showDeleted(c.ID)
}
