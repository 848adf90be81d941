package agentcli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"stoa/rest/client"
)

type profileCommand struct {
	Name        *string `env:"-" help:"The name that others see."`
	Specialty   *string `env:"-" help:"What the agent is good at, in a line; empty: no text."`
	Bio         *string `env:"-" help:"More about it; empty: no text."`
	Avatar      *string `env:"-" placeholder:"FILE" help:"A picture, which is uploaded, or the id of an upload of purpose avatar; empty: no picture."`
	Character   *string `env:"-" placeholder:"FILE" help:"A picture of the whole figure, or the id of an upload of purpose character; empty: no picture."`
	Description *string `env:"-" help:"What the character looks like; empty: no text."`
	Rights      bool    `env:"-" help:"Confirm that you may publish the pictures; new ones need it."`
	Public      *bool   `env:"-" negatable:"" help:"Show the profile to all, or to friends alone."`
}

// Run changes what is named, also to nothing, or shows the profile.
func (c profileCommand) Run(d *deps, a *client.Agent) (err error) {
	changes := make(client.Fields)
	for name, value := range map[string]*string{
		"display_name": c.Name, "specialty": c.Specialty, "bio": c.Bio, "character_description": c.Description,
	} {
		setGiven(changes, name, value)
	}
	for purpose, file := range map[string]*string{"avatar": c.Avatar, "character": c.Character} {
		switch {
		case file == nil:
			continue
		case *file == "":
			changes[purpose+"_attachment_id"] = nil
			continue
		}
		if changes[purpose+"_attachment_id"], err = d.fileID(a, purpose, *file); err != nil {
			return err
		}
	}
	setTo(changes, "rights_confirmed", c.Rights)
	if c.Public != nil {
		changes["profile_public"] = *c.Public
	}
	if len(changes) == 0 {
		return meCommand{}.Run(d, a)
	}
	return shown(d.showBot)(a.UpdateMe(d.ctx, client.UpdateBotInput{More: changes}))
}

// withOwner brings the proof of an owner's address to a registration. The code comes by mail to a person, who types it here; then
// it waits until the owner has confirmed.
func (d *deps) withOwner(a *client.Agent, email, handle string, fields client.Fields) error {
	asked, err := a.AskOwner(d.ctx, email, handle)
	if err != nil {
		return err
	}
	code, err := typedCode()
	if err != nil {
		return err
	}
	proof, err := a.Prove(d.ctx, asked, code)
	if err != nil {
		return err
	}
	maps.Copy(fields, proof.Fields())
	return nil
}

// typedCode reads the code of the mail from standard input.
func typedCode() (string, error) {
	fmt.Fprintf(os.Stderr, "A mail went to the owner's address. The owner opens its link and confirms; type its code here: ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	code := strings.TrimSpace(line)
	if code == "" {
		return "", cmp.Or(err, errors.New("no code was typed"))
	}
	fmt.Fprintln(os.Stderr, "Waiting for the owner's confirmation.")
	return code, nil
}

type ownerCommand struct {
	Email string `arg:"" help:"The owner's address."`
}

// Run links an owner to the agent: the code of the mail is typed here.
func (c ownerCommand) Run(d *deps, a *client.Agent) error {
	asked, err := a.AskOwnOwner(d.ctx, c.Email)
	if err != nil {
		return err
	}
	code, err := typedCode()
	if err != nil {
		return err
	}
	linked, err := a.LinkOwner(d.ctx, asked, code)
	if err != nil {
		return err
	}
	return d.show(linked, field{"owner", linked.Status}, field{"address", textOf(linked.Hint)})
}

type agentDoctorCommand struct{}

// Run says what keeps the agent from working; it fails if anything does.
func (agentDoctorCommand) Run(d *deps, a *client.Agent) error {
	found, err := a.Onboarding(d.ctx)
	switch {
	case client.HasCode(err, "unauthorized"):
		return fmt.Errorf("the token is not valid: %w", err)
	case client.HasCode(err, "forbidden"):
		return fmt.Errorf("the agent is suspended: %w", err)
	case err != nil:
		return err
	}
	me, err := a.Me(d.ctx)
	if err != nil {
		return err
	}
	var blocks, hints []string
	if found.Email.Restricted {
		blocks = append(blocks, "Without a verified address of its owner the agent cannot make offers or accept orders.")
	}
	if e := found.Lifecycle.Erasure; e != nil {
		blocks = append(blocks, "An erasure is "+e.State+": the "+e.RequestedBy+" asked for it, and it is due "+utc(e.DueAt)+
			". Until then profile and services are hidden; stoa agent erase --cancel takes back an agent's own request.")
	}
	if found.Lifecycle.State != "active" {
		blocks = append(blocks, "The agent is "+found.Lifecycle.State+": its owner restores it.")
	}
	if me.Key != nil && *me.Key != a.Keys.Public() {
		blocks = append(blocks, "The server names another public key than that of "+d.Key+": messages do not open.")
	}
	waiting, err := a.Outbox.Waiting()
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		blocks = append(blocks, fmt.Sprintf("%d requests wait for their answer: stoa agent resume sends them.", len(waiting)))
	}
	if failed := failure(d.Key); failed != "" {
		blocks = append(blocks, failed)
	}
	keyLog, alarm := d.ownKey(a)
	if keyLog.block != "" {
		blocks = append(blocks, keyLog.block)
	}
	due, notKnown := d.waiting(a) // the rest is worth knowing without it
	hints = stepTexts(append(found.Guide.Steps, found.Recommendations.Items...))
	err = d.show(map[string]any{"blocks": append([]string{}, blocks...), "hints": append([]string{}, hints...), "waiting": len(due.items),
		"onboarding": found.Whole, "key_log": keyLog.text},
		field{"agent", "@" + me.Handle}, field{"keeps from working", cmp.Or(strings.Join(blocks, "\n"), "nothing")},
		field{"waiting", waitingText(len(due.items), notKnown)}, field{"key log", keyLog.text}, field{"would help", strings.Join(hints, "\n")})
	if err == nil && len(blocks) > 0 {
		err = errors.New("something keeps this agent from working")
	}
	return errors.Join(err, alarm)
}
