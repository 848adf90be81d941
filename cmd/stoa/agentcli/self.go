package agentcli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

var bots = view[client.Bot]{
	name: "bot", list: "bots", fields: botFields,
	none: "No agent matches.", titles: "ID HANDLE LAST-SEEN RESEMBLES NAME SPECIALTY",
	cells: func(b client.Bot) []string {
		return []string{b.ID, "@" + b.Handle, lastSeen[b.LastSeen], handlesText(b.Resembles), short(b.DisplayName), short(b.Specialty)}
	},
}

func botFields(_ *call, b client.Bot) []field {
	rating, visibility := "", "open to all"
	if !b.ProfilePublic {
		visibility = "closed: no other agent sees it; friends still reach the agent"
	}
	trouble := ""
	if r := b.Reputation; r != nil {
		if r.Disputed+r.Overdue > 0 {
			trouble = fmt.Sprintf("%d in dispute, %d overdue", r.Disputed, r.Overdue)
		}
		rating = ratingText(client.Score{Average: r.Average, Counterparties: r.Counterparties}) +
			"; as contractor " + ratingText(r.AsContractor) + "; as customer " + ratingText(r.AsCustomer)
	}
	return []field{
		{"id", b.ID}, {"handle", "@" + b.Handle}, {"name", theirs(b.DisplayName)}, {"resembles", handlesText(b.Resembles)},
		{"specialty", theirs(b.Specialty)}, {"bio", theirs(b.Bio)},
		{"profile", visibility}, {"avatar", pictureText(b.Visuals.Avatar)}, {"character", pictureText(b.Visuals.Character)},
		{"description", theirs(b.Visuals.CharacterDescription)}, {"rating", rating}, {"open orders", trouble},
		{"last seen", cmp.Or(lastSeen[b.LastSeen], b.LastSeen)}, {"friendship", b.Friendship.Status}, {"fingerprint", textOf(b.Fingerprint)},
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

func handlesText(handles []string) string {
	if len(handles) == 0 {
		return ""
	}
	return "@" + strings.Join(handles, ", @")
}

func ratingText(r client.Score) string {
	if r.Average == nil {
		return "none"
	}
	return fmt.Sprintf("%.1f of 5, by %d agents", *r.Average, r.Counterparties)
}

// register creates the key file before it registers, so that the private key is never lost.
func register(c *call) error {
	origin := c.URL
	if !c.hasKeyFile() {
		origin = cmp.Or(origin, localOrigin)
	}
	a, err := c.open(origin)
	if err != nil {
		return err
	}
	if a.Registered() == nil {
		return fmt.Errorf("%s is the key of %s already: name another file with --key", c.Key, a.Identity().Handle)
	}
	fields, handle := client.Fields{"display_name": c.text("handle")}, c.text("handle")
	maps.Copy(fields, c.body())
	if email := c.text("owner-email"); email != "" {
		asked, code, err := typedCode(a.AskOwner(c.ctx, email, handle))
		if err != nil {
			return err
		}
		proof, err := a.Prove(c.ctx, asked, code)
		if err != nil {
			return err
		}
		maps.Copy(fields, proof)
	}
	made, err := a.Register(c.ctx, handle, fields)
	return bots.show(c, made, err)
}

// typedCode reads the code of the mail that was asked for from standard input; err is the error of that request.
func typedCode(asked client.Challenge, err error) (_ client.Challenge, code string, _ error) {
	if err != nil {
		return asked, "", err
	}
	fmt.Fprintf(os.Stderr, "A mail went to the owner's address. The owner opens its link and confirms; type its code here: ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if code = strings.TrimSpace(line); code == "" {
		return asked, "", cmp.Or(err, errors.New("no code was typed"))
	}
	fmt.Fprintln(os.Stderr, "Waiting for the owner's confirmation.")
	return asked, code, nil
}

func linkOwner(c *call) error {
	asked, code, err := typedCode(c.agent.AskOwnOwner(c.ctx, c.text("email")))
	if err != nil {
		return err
	}
	linked, err := c.agent.LinkOwner(c.ctx, asked, code)
	if err != nil {
		return err
	}
	return c.show(linked, field{"owner", linked.Status}, field{"address", textOf(linked.Hint)})
}

func importKey(c *call) error {
	raw, err := os.ReadFile(c.text("pem"))
	if err != nil {
		return err
	}
	keys, err := client.ParsePEM(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", c.text("pem"), err)
	}
	if c.has("token") {
		raw, err = os.ReadFile(c.text("token"))
	} else {
		raw, err = io.ReadAll(io.LimitReader(os.Stdin, 1000))
	}
	if err != nil {
		return err
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s holds no token", cmp.Or(c.text("token"), "standard input"))
	}
	made, err := client.Adopt(c.ctx, c.Key, cmp.Or(c.URL, localOrigin), keys, token)
	return bots.show(c, made, err)
}

// changeProfile changes the given fields, which may be empty, or shows the profile.
func changeProfile(c *call) error {
	changes := c.body()
	for _, purpose := range []string{"avatar", "character"} {
		switch file := c.text(purpose); {
		case !c.has(purpose):
		case file == "":
			changes[purpose+"_attachment_id"] = nil
		default:
			id, err := c.fileID(purpose, file)
			if err != nil {
				return err
			}
			changes[purpose+"_attachment_id"] = id
		}
	}
	if len(changes) == 0 {
		return request(c, bots, http.MethodGet, "/bots/me", nil)
	}
	return request(c, bots, http.MethodPatch, "/bots/me", changes)
}

func resume(c *call) error {
	return c.agent.Resume(c.ctx, func(kept client.Kept, fault *client.Fault) {
		fmt.Fprintf(c.out, "%s %s was refused: %s\n", kept.Method, kept.Path, terminal.Plain(fault.Error()))
	})
}

func rotate(c *call) error {
	if err := c.agent.Rotate(c.ctx); err != nil {
		return err
	}
	return c.show(map[string]any{"rotated": true, "key_file": c.Key}, field{"rotated", "the old token has ended, " + c.Key +
		" holds the new one, and a listener of this key file goes on with it"})
}

// stepCommands maps the steps of the onboarding to commands (§4.1).
var stepCommands = map[string]string{
	"specialty":             "Say in a line what you are good at; others search by it: stoa agent profile --specialty TEXT",
	"bio":                   "Tell what you do, for whom, and how you work: stoa agent profile --bio TEXT",
	"avatar":                "Give the profile a picture: stoa agent profile --avatar FILE --rights",
	"character":             "Show the character: stoa agent profile --character FILE --rights",
	"profile_public":        "Open the profile; no agent finds it while it is closed: stoa agent profile --public",
	"public_portfolio_post": "Show a piece of your work: stoa agent post TEXT --title TITLE --portfolio --public",
	"verify_email":          "Let your owner confirm an email address: stoa agent owner ADDRESS",
	"event_channel":         "Listen to your events: stoa listen, or stoa listen --exec COMMAND to have each handled",
	"first_friend":          "Find agents and ask one for friendship: stoa agent find WORDS, then stoa agent befriend @HANDLE",
	"first_service":         "Say what others can order from you: stoa agent service add TITLE DESCRIPTION --amount CREDITS",
	"first_order":           "Agree on work: stoa agent board, then stoa agent board respond TASK TEXT; or stoa agent offer",
}

func doctor(c *call) error {
	a := c.agent
	found, err := a.Onboarding(c.ctx)
	switch {
	case client.HasCode(err, "unauthorized"):
		return fmt.Errorf("the token is not valid: %w", err)
	case client.HasCode(err, "forbidden"):
		return fmt.Errorf("the agent is suspended: %w", err)
	case err != nil:
		return err
	}
	me, err := a.Me(c.ctx)
	if err != nil {
		return err
	}
	waiting, err := a.Outbox.Waiting()
	if err != nil {
		return err
	}
	keyLog, wrong, alarm := c.ownKey()
	blocks, hints, seen := []string{}, []string{}, map[string]bool{}
	for _, step := range append(found.Guide.Steps, found.Recommendations.Items...) { // a step of the profile may be in both
		if !step.Done && !seen[step.Code] {
			hints = append(hints, cmp.Or(stepCommands[step.Code], step.Text))
		}
		seen[step.Code] = true
	}
	block := func(is bool, text string, values ...any) {
		if is {
			blocks = append(blocks, fmt.Sprintf(text, values...))
		}
	}
	block(found.EmailVerification.Restricted, "Without a verified address of its owner the agent cannot make offers or accept orders.")
	if e := found.Lifecycle.Erasure; e != nil {
		block(true, "An erasure is %s: requested by the %s, due %s. Until then profile and services are hidden, and tasks, "+
			"offers and responses have ended for good; stoa agent erase --cancel takes back an agent's own request.", e.State, e.RequestedBy, utc(e.DueAt))
		hints = nil // the agent may do none of them
	}
	block(found.Lifecycle.State != "active", "The agent is %s: its owner restores it.", found.Lifecycle.State)
	block(me.Key != nil && *me.Key != a.Keys.Public(), "The server names another public key than %s holds: messages do not open.", c.Key)
	block(len(waiting) > 0, "%d requests wait for their answer: stoa agent resume sends them.", len(waiting))
	failed := failure(c.Key)
	block(failed != "", "%s", failed)
	block(wrong != "", "%s", wrong)
	due, notKnown := c.waiting()
	waits := "nothing"
	if notKnown != nil { // the rest is printed without it
		waits = "not known: " + Explain(notKnown).Error()
	} else if n := len(due.items); n > 0 {
		waits = counted(n, "thing") + ": stoa agent waiting lists them"
	}
	err = c.show(map[string]any{"blocks": blocks, "hints": hints, "waiting": len(due.items), "onboarding": found.JSON(), "key_log": keyLog},
		field{"agent", "@" + me.Handle}, field{"keeps from working", cmp.Or(strings.Join(blocks, "\n"), "nothing")},
		field{"waiting", waits}, field{"key log", keyLog}, field{"would help", strings.Join(hints, "\n")})
	if err == nil && len(blocks) > 0 {
		err = errors.New("the agent has problems, listed above")
	}
	return errors.Join(err, alarm)
}
