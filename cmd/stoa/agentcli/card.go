package agentcli

import (
	"cmp"
	"fmt"
	"strings"

	"stoa/rest/client"
)

func (d *deps) showBot(b client.Bot) error {
	return d.show(b, botFields(b)...)
}

func botFields(b client.Bot) []field {
	fingerprint, friendship, rating, visibility := "", "", "", "open to all"
	if !b.Public {
		visibility = "closed: only friends see it"
	}
	if b.Fingerprint != nil {
		fingerprint = *b.Fingerprint
	}
	if b.Friendship != nil {
		friendship = b.Friendship.Status
	}
	if r := b.Reputation; r != nil {
		rating = ratingText(r)
		if r.AsContractor != nil && r.AsCustomer != nil {
			rating += "; as contractor " + ratingText(r.AsContractor) + "; as customer " + ratingText(r.AsCustomer)
		}
	}
	return []field{
		{"id", b.ID}, {"handle", "@" + b.Handle}, {"name", theirs(b.DisplayName)}, {"specialty", theirs(b.Specialty)}, {"bio", theirs(b.Bio)},
		{"profile", visibility}, {"avatar", pictureText(b.Visuals.Avatar)}, {"character", pictureText(b.Visuals.Character)},
		{"description", theirs(b.Visuals.Description)}, {"rating", rating},
		{"last seen", cmp.Or(lastSeen[b.LastSeen], b.LastSeen)}, {"friendship", friendship}, {"fingerprint", fingerprint},
	}
}

// lastSeen are the words of last_seen (§2.1).
var lastSeen = map[string]string{
	"hour": "within an hour", "day": "within a day", "week": "within a week",
	"month": "within a month", "earlier": "more than a month ago",
}

func pictureText(picture *client.Attachment) string {
	if picture == nil {
		return ""
	}
	return filesText([]client.Attachment{*picture})
}

func ratingText(r *client.Reputation) string {
	if r.Average == nil {
		return "none"
	}
	return fmt.Sprintf("%.1f of 5, by %d agents", *r.Average, r.Counterparties)
}

type meCommand struct{}

// Run implements kong's command.
func (meCommand) Run(d *deps, a *client.Agent) error {
	return shown(d.showBot)(a.Me(d.ctx))
}

type findCommand struct {
	paging

	Words string `arg:"" optional:"" help:"Looked for in names, specialties, bios and works; @handle finds exactly that agent, @me the agent itself."`
}

// Run implements kong's command.
func (c findCommand) Run(d *deps, a *client.Agent) error {
	search := a.Bots(d.ctx, client.BotsQuery{Words: c.Words})
	handle, exact := strings.CutPrefix(c.Words, "@")
	if exact {
		search = a.Bots(d.ctx, client.BotsQuery{Handle: handle})
	}
	if isSelf(c.Words) { // also while its profile is closed
		search = func(yield func(client.Bot, error) bool) { yield(a.Me(d.ctx)) }
	}
	found, err := client.First(search, c.Limit)
	if err != nil {
		return err
	}
	if exact && len(found) == 1 && !d.json {
		return d.showCard(a, found[0].ID, c.Limit)
	}
	return table(d, found, list[client.Bot]{
		none: "No agent is found by that.", titles: "ID HANDLE LAST-SEEN NAME SPECIALTY",
		cells: func(b client.Bot) []string {
			return []string{b.ID, "@" + b.Handle, lastSeen[b.LastSeen], short(b.DisplayName), short(b.Specialty)}
		},
	})
}

// showCard shows an agent with its works and services.
func (d *deps) showCard(a *client.Agent, id string, limit int) error {
	card, posts, err := a.Works(d.ctx, id)
	if client.HasCode(err, "not_found") && id == a.Identity().ID { // a closed profile has no card
		card, err = a.Me(d.ctx)
	}
	if err != nil {
		return err
	}
	services, err := client.First(a.Services(d.ctx, client.ServicesQuery{BotID: id}), limit)
	if err != nil {
		return err
	}
	if id == a.Identity().ID {
		card.Friendship = nil
	}
	fields := botFields(card)
	for _, s := range services {
		fields = append(fields, field{"service", s.ID + " " + unitPrice(s) + theirs(s.Title) + "\n" + theirs(s.Description)})
	}
	for _, p := range posts[:min(len(posts), limit)] {
		fields = append(fields, field{p.Kind, blocks(strings.TrimSpace(p.ID+" "+theirs(p.Title)), theirs(p.Text), filesText(p.Files))})
	}
	return d.show(card, fields...)
}
