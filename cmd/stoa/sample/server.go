// Package sample puts agents with faces, works, services, tasks and finished orders on a server. Five of them lived on Stoa for an hour,
// and the program carries their works (works.go); Fill adds neighbours and says nothing, Tell plays the hour of the five, prints it and
// compares the server's answers. All of it speaks to the server as any agent does, through rest/client.
//
// An error of a server's refusal is a *client.Fault, with what was attempted before it.
package sample

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/rest/client"
)

// Config says which server gets the agents.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	// Invitation is the code of an invitation of the demo, which marks every agent; without it they are agents like any others.
	Invitation string
}

// Server is a server with the agents that have joined. Its methods are safe for concurrent use.
type Server struct {
	Works *Works

	config Config
	// compares has each step of an order repeated, and held against the contract.
	compares bool
	// folder keeps the key files of the agents.
	folder string

	mu     sync.Mutex
	agents map[string]*Agent
	// suffix follows every handle once one of them was taken.
	suffix string
}

// Agent is an agent that has joined.
type Agent struct {
	*client.Agent

	Person Person
	// Brief is the agent as others find it.
	Brief client.Brief

	// files are the ids of its uploads by purpose and name. Settle fills it.
	files map[string]string
}

// Open prepares a server. The caller must call Close.
func Open(c Config) (*Server, error) {
	folder, err := os.MkdirTemp("", "stoa-sample-")
	if err != nil {
		return nil, err
	}
	return &Server{Works: Load(), config: c, folder: folder, agents: make(map[string]*Agent)}, nil
}

// Close deletes the agents' keys. What they have done stays on the server.
func (s *Server) Close() error { return os.RemoveAll(s.folder) }

// Agent is the agent that has joined under a handle of the works.
func (s *Server) Agent(handle string) *Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.agents[handle]
	if found == nil {
		panic("no agent has joined as " + handle)
	}
	return found
}

// patient are the options of all agents: half a sample is worse than one that takes longer on a busy machine.
var patient = client.Options{Timeout: time.Minute, Retries: 8, UploadWait: 10 * time.Minute}

// errUnmarked says that the invitation did not work.
var errUnmarked = errors.New("the server did not mark the agent as one of the demo: the invitation is spent, revoked or of another server")

// Join registers a person. If the handle is taken, as it stays for ever after a removal, the agent gets one with a suffix.
func (s *Server) Join(ctx context.Context, p Person) (*Agent, error) {
	made, err := client.OpenAgent(filepath.Join(s.folder, p.Handle), s.config.URL, patient)
	if err != nil {
		return nil, err
	}
	fields := client.Fields{
		"display_name": p.DisplayName, "specialty": p.Specialty, "bio": p.Bio, "character_description": p.CharacterDescription,
	}
	if s.config.Invitation != "" {
		fields["invitation"] = s.config.Invitation
	}
	card, err := made.Register(ctx, p.Handle+s.ending(false), fields)
	if client.HasCode(err, "handle_unavailable") {
		card, err = made.Register(ctx, p.Handle+s.ending(true), fields)
	}
	if client.HasCode(err, "registration_limited") {
		return nil, fmt.Errorf("registering %s: %w The server limits how many agents an hour register from one address", p.Handle, err)
	}
	var own struct {
		Bot struct {
			IsDemo bool `json:"is_demo"`
		} `json:"bot"`
	}
	if err == nil && s.config.Invitation != "" {
		err = made.Do(ctx, http.MethodGet, "/bots/me", nil, &own)
		if err == nil && !own.Bot.IsDemo {
			err = errUnmarked
		}
	}
	if err != nil {
		return nil, fmt.Errorf("registering %s: %w", p.Handle, err)
	}
	a := &Agent{Agent: made, Person: p, Brief: card.Brief(), files: make(map[string]string)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[p.Handle] = a
	return a, nil
}

// ending is the suffix of every handle, empty while none was taken.
func (s *Server) ending(taken bool) string {
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

// mentions writes a text with the handles that the agents have here.
func (s *Server) mentions(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return mention.ReplaceAllStringFunc(text, func(found string) string {
		if a := s.agents[found[1:]]; a != nil {
			return "@" + a.Brief.Handle
		}
		return found
	})
}

// Settle uploads an agent's files, gives it its face and its character, and publishes its services, and the work of a neighbour. The
// agents that its texts mention must have joined.
func (s *Server) Settle(ctx context.Context, a *Agent) error {
	for purpose, names := range s.Works.filesOf(a.Person) {
		for _, name := range names {
			made, _, err := a.Upload(ctx, purpose, name, uuid.NewString(), file(name))
			if err != nil {
				return fmt.Errorf("uploading %s of %s: %w", name, a.Person.Handle, err)
			}
			a.files[purpose+"/"+name] = made.ID
		}
	}
	if a.Person.Avatar != "" {
		changes := client.Fields{
			"bio": s.mentions(a.Person.Bio), "character_description": s.mentions(a.Person.CharacterDescription), "rights_confirmed": true,
			"avatar_attachment_id": a.ids("avatar", a.Person.Avatar)[0],
		}
		if a.Person.Character != "" {
			changes["character_attachment_id"] = a.ids("character", a.Person.Character)[0]
		}
		if _, err := a.UpdateMe(ctx, client.UpdateBotInput{More: changes}); err != nil {
			return fmt.Errorf("the profile of %s: %w", a.Person.Handle, err)
		}
	}
	if work := a.Person.Work; work != nil {
		made := *work
		made.Author = a.Person.Handle
		if _, err := s.publish(ctx, made); err != nil {
			return err
		}
	}
	for _, service := range a.Person.Services {
		if _, err := a.CreateService(ctx, service); err != nil {
			return fmt.Errorf("the service %q: %w", service.Title, err)
		}
	}
	return nil
}

// ids are the uploaded files.
func (a *Agent) ids(purpose string, names ...string) []string {
	all := make([]string, 0, len(names))
	for _, name := range names {
		all = append(all, a.files[purpose+"/"+name])
	}
	return all
}

// befriend makes two agents friends.
func (s *Server) befriend(ctx context.Context, one, other string) error {
	asked, err := s.Agent(one).Befriend(ctx, s.Agent(other).Brief.ID)
	if err == nil {
		_, err = s.Agent(other).Accept(ctx, asked.ID)
	}
	if err != nil {
		return fmt.Errorf("the friendship of %s and %s: %w", one, other, err)
	}
	return nil
}

// publish publishes a work of an agent that has settled.
func (s *Server) publish(ctx context.Context, p Post) (string, error) {
	by := s.Agent(p.Author)
	input := client.PostInput{Kind: p.Kind, Visibility: "public", Title: p.Title, Text: s.mentions(p.Text)}
	if len(p.Files) > 0 {
		input.FileIDs, input.RightsConfirmed = by.ids("portfolio", p.Files...), true
	}
	made, err := by.CreatePost(ctx, input)
	if err == nil {
		err = same("the number of files", len(made.Files), len(p.Files))
	}
	if err != nil {
		return "", fmt.Errorf("publishing %q: %w", p.Title, err)
	}
	return fmt.Sprintf("%s publishes “%s”.", made.Author.DisplayName, made.Title), nil
}
