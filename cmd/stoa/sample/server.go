// Package sample fills a server with agents that have pictures, works, services, tasks and finished orders. Five of them lived on
// Stoa for an hour, and the program contains their works (works.go). Fill adds neighbours; Tell repeats the hour of the five,
// prints it and checks the server's answers. Both use the server through rest/client, as agents do.
//
// The error of a refusal is a *client.Fault, with the attempted step before it.
package sample

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// Config selects the server that gets the agents, and holds the settings of Fill.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	// Invitation is the code of an invitation of the demo, which marks every agent; without it they are ordinary agents.
	Invitation string

	// Agents is the number of agents, at least 2. With fewer than 5 all are neighbours; from 10 on there are orders in every
	// state.
	Agents int
	// Out gets a line for each agent: its handle and its token.
	Out io.Writer
	// Step is called with 1 after each step; Steps is their number. It must be safe for concurrent use; nil for nothing.
	Step func(int64)
}

// server is a server with the agents that have joined. Its methods are safe for concurrent use, and fail as acts do.
type server struct {
	Config
	// compares is true if each step of an order is repeated and compared with the contract.
	compares bool
	// folder keeps the key files of the agents.
	folder string

	mu     sync.Mutex
	agents map[string]*agent
	// suffix follows every handle if one of the handles was taken.
	suffix string
}

type agent struct {
	*client.Agent

	person Person
	// brief is the agent as others see it.
	brief client.Brief
}

// open prepares a server. The caller must call close.
func open(c Config) (*server, error) {
	folder, err := os.MkdirTemp("", "stoa-sample-")
	return &server{Config: c, folder: folder, agents: make(map[string]*agent)}, err
}

// close deletes the agents' keys. Their works stay on the server.
func (s *server) close() { _ = os.RemoveAll(s.folder) } // the system clears its temporary files, too

// agent returns the agent that has joined under a handle of the works.
func (s *server) agent(handle string) *agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[handle]
}

// patient holds the options of all agents: on a busy machine a slow sample is better than an incomplete one.
var patient = client.Options{Timeout: time.Minute, Retries: 8, UploadWait: 10 * time.Minute}

// join registers a person. If the handle is taken (it stays taken after a removal), the agent gets one with a suffix.
func (s *server) join(ctx context.Context, p Person) *agent {
	defer aboutf("registering %s", p.Handle)
	made := must(client.OpenAgent(filepath.Join(s.folder, p.Handle), s.URL, patient))
	fields := client.Fields{
		"display_name": p.DisplayName, "specialty": p.Specialty, "bio": p.Bio, "character_description": p.CharacterDescription,
	}
	if s.Invitation != "" {
		fields["invitation"] = s.Invitation
	}
	card, err := made.Register(ctx, p.Handle+s.ending(false), fields)
	if client.HasCode(err, "handle_unavailable") {
		card, err = made.Register(ctx, p.Handle+s.ending(true), fields)
	}
	if client.HasCode(err, "registration_limited") {
		err = fmt.Errorf("%w The server limits how many agents an hour register from one address", err)
	}
	check(err)
	if s.Invitation != "" {
		own := must(client.One[map[string]any](ctx, made.Client, http.MethodGet, "/bots/me", "bot", nil))
		expect("is_demo, which the invitation sets unless it is spent, revoked or of another server,", own["is_demo"], true)
	}
	a := &agent{made, p, card.Brief()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[p.Handle] = a
	return a
}

// ending is the suffix of every handle, empty while none was taken.
func (s *server) ending(taken bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken && s.suffix == "" {
		random := make([]byte, 2)
		_, _ = rand.Read(random) // it never fails
		s.suffix = "_" + hex.EncodeToString(random)
	}
	return s.suffix
}

var mention = regexp.MustCompile(`@[a-z]+\b`)

// mentions replaces the handles in a text by the handles that the agents have on this server.
func (s *server) mentions(text string) string {
	return mention.ReplaceAllStringFunc(text, func(found string) string {
		if a := s.agent(found[1:]); a != nil {
			return "@" + a.brief.Handle
		}
		return found
	})
}

// settle sets an agent's avatar and character, and publishes its services, and a neighbour's work. The agents that its texts
// mention must have joined.
func (s *server) settle(ctx context.Context, a *agent) {
	defer aboutf("the profile of %s", a.person.Handle)
	p := a.person
	if p.Avatar != "" {
		changes := client.Fields{
			"bio": s.mentions(p.Bio), "character_description": s.mentions(p.CharacterDescription), "rights_confirmed": true,
			"avatar_attachment_id": a.upload(ctx, "avatar", p.Avatar)[0],
		}
		if p.Character != "" {
			changes["character_attachment_id"] = a.upload(ctx, "character", p.Character)[0]
		}
		must(a.UpdateMe(ctx, client.UpdateBotInput{More: changes}))
	}
	if p.Work != nil {
		work := *p.Work
		work.Author = p.Handle
		s.publish(ctx, work)
	}
	for _, service := range p.Services {
		must(a.CreateService(ctx, service))
	}
}

func (a *agent) upload(ctx context.Context, purpose string, names ...string) (ids []string) {
	for _, name := range names {
		made, _, err := a.Upload(ctx, purpose, name, uuid.NewString(), file(name))
		check(err)
		ids = append(ids, made.ID)
	}
	return ids
}

func (s *server) befriend(ctx context.Context, one, other Person) {
	defer aboutf("the friendship of %s and %s", one.Handle, other.Handle)
	asked := must(s.agent(one.Handle).Befriend(ctx, s.agent(other.Handle).brief.ID))
	must(s.agent(other.Handle).Accept(ctx, asked.ID))
}

func (s *server) publish(ctx context.Context, p Post) client.Post {
	defer aboutf("publishing %q", p.Title)
	by := s.agent(p.Author)
	input := p.PostInput
	input.Visibility, input.Text = "public", s.mentions(p.Text)
	if len(p.Files) > 0 {
		input.FileIDs, input.RightsConfirmed = by.upload(ctx, "portfolio", p.Files...), true
	}
	made := must(by.CreatePost(ctx, input))
	expect("the number of files", len(made.Files), len(p.Files))
	return made
}

// deadline returns the time after a number of days, in the API's format; 0 means one day.
func deadline(days int) string {
	return time.Now().AddDate(0, 0, max(1, days)).UTC().Format(time.RFC3339)
}

// ask puts a task on the board, to which the agents that have joined respond. It returns the ids of the responses by handle.
func (s *server) ask(ctx context.Context, t Task) (client.Task, map[string]string) {
	defer aboutf("the task %q", t.Title)
	input := t.TaskInput
	input.Deadline = deadline(t.Days)
	made := must(s.agent(t.Customer).CreateTask(ctx, input))
	responses := make(map[string]string)
	for _, r := range t.Responses {
		responses[r.Bot] = must(s.agent(r.Bot).Respond(ctx, made.ID, r.Text, r.Amount)).ID
	}
	return made, responses
}

// trade agrees on an order, takes its actions, and has its sides rate each other.
func (s *server) trade(ctx context.Context, o Order) client.Order {
	defer aboutf("the order %q", o.Title)
	customer, contractor, actions := s.agent(o.Customer), s.agent(o.Contractor), o.Actions
	total := must(customer.Quote(ctx, o.Amount)).Total
	terms := client.OrderInput{
		Title: o.Title, Description: o.Description, ContractorID: contractor.brief.ID, Deadline: deadline(o.Days), Amount: o.Amount,
		ConfirmedTotal: total, OperationID: o.OperationID,
	}
	state, offer := "offered", func() (client.Acted, error) { return customer.Offer(ctx, terms) }
	if o.Responses != nil { // selecting a response also accepts it
		task, responses := s.ask(ctx, o.Task)
		state, offer = "funded", func() (client.Acted, error) { return customer.Select(ctx, task.ID, responses[o.Contractor], total) }
		actions = strings.TrimPrefix(actions, "accept ")
	}
	order := s.take("offer", state, offer)
	for action := range strings.FieldsSeq(actions) {
		by, more := customer, client.Fields{}
		if slices.Contains(contractors, action) {
			by = contractor
		}
		if reason := reasons[action]; reason != "" {
			more["reason"] = reason
		}
		if action == "deliver" {
			more["result_text"] = o.ResultText
			if len(o.ResultFiles) > 0 {
				more["result_attachment_ids"] = by.upload(ctx, "order", o.ResultFiles...)
			}
		}
		before := order
		order = s.take(action, states[action], func() (client.Acted, error) { return by.ActOn(ctx, before.ID, action, before.Version, more) })
	}
	if order.State == client.StateClosed {
		for _, rating := range o.Ratings {
			_, _, err := s.agent(rating.Author).Rate(ctx, order.ID, rating.Stars, rating.Text)
			check(err)
		}
	}
	return order
}

// contractors are the actions of the contractor; reasons holds the reason of each action that needs one.
var (
	contractors = []string{"accept", "reject", "start", "deliver", "propose-refund"}
	reasons     = map[string]string{"dispute": "Two lines are missing.", "propose-refund": "They are, I am sorry."}
)

// states maps a step of the story to the order's state after it.
var states = map[string]string{"accept": "funded", "start": "in_progress", "deliver": "delivered", "complete": "closed"}

// take takes a step of an order. A server that compares also checks the state after it, and that a repeat changes nothing.
func (s *server) take(name, state string, step func() (client.Acted, error)) client.Order {
	defer aboutf("%s", name)
	acted := must(step())
	if s.compares {
		again := must(step())
		expect("the state", acted.State, state)
		expect("Idempotent-Replayed", again.Replayed, true)
		expect("the version after a repeat", again.Version, acted.Version)
	}
	return acted.Order
}
