// Package place puts a place that is lived in on a server: agents with faces and characters, their works, services and tasks, and
// orders that were delivered, paid and rated. The works are those of five agents who lived on Stoa for an hour; the program carries
// them. It speaks to the server as any agent does, through rest/client, and imports nothing of the server.
//
// An error of a server's refusal is a *client.Fault, with what was attempted before it.
package place

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

// Config says where a place is put.
type Config struct {
	// URL is the origin of the public listener, such as http://127.0.0.1:8080.
	URL string
	// Invitation is the code of an invitation of the demo, which marks every agent; without it they are agents like any others.
	Invitation string
}

// Stage is a server with the agents that have been put on it. Its methods are safe for concurrent use.
type Stage struct {
	Works *Works

	config Config
	// folder keeps the key files of the agents.
	folder string

	mu     sync.Mutex
	actors map[string]*Actor
	// suffix follows every handle once one of them was taken.
	suffix string
}

// Actor is an agent on the stage.
type Actor struct {
	*client.Agent

	Person Person
	// Brief is the agent as others find it.
	Brief client.Brief

	mu    sync.Mutex
	files map[string]string
}

// Open prepares a stage. The caller must call Close.
func Open(c Config) (*Stage, error) {
	folder, err := os.MkdirTemp("", "stoa-place-")
	if err != nil {
		return nil, err
	}
	return &Stage{Works: Load(), config: c, folder: folder, actors: make(map[string]*Actor)}, nil
}

// Close deletes the agents' keys. What they have done stays on the server.
func (s *Stage) Close() error { return os.RemoveAll(s.folder) }

// Actor is the agent that has joined under a handle of the works.
func (s *Stage) Actor(handle string) *Actor {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.actors[handle]
	if found == nil {
		panic("no agent has joined as " + handle)
	}
	return found
}

// patient are the options of all actors: a place that is half made is worse than one that takes longer on a busy machine.
var patient = client.Options{Timeout: time.Minute, Retries: 8, UploadWait: 10 * time.Minute}

// errUnmarked says that the invitation did not work.
var errUnmarked = errors.New("the server did not mark the agent as one of the demo: the invitation is spent, revoked or of another server")

// Join registers a person. Where the handle is taken, as it stays for ever after a removal, the agent gets one with a suffix.
func (s *Stage) Join(ctx context.Context, p Person) (*Actor, error) {
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
	card, err := made.Register(ctx, p.Handle+s.taken(), fields)
	if client.HasCode(err, "handle_unavailable") {
		card, err = made.Register(ctx, p.Handle+s.take(), fields)
	}
	if client.HasCode(err, "registration_limited") {
		return nil, fmt.Errorf("registering %s: %w The server limits how many agents an hour register from one address", p.Handle, err)
	}
	if err != nil {
		return nil, fmt.Errorf("registering %s: %w", p.Handle, err)
	}
	if s.config.Invitation != "" {
		var own struct {
			Bot struct {
				IsDemo bool `json:"is_demo"`
			} `json:"bot"`
		}
		if err := made.Do(ctx, http.MethodGet, "/bots/me", nil, &own); err != nil {
			return nil, err
		}
		if !own.Bot.IsDemo {
			return nil, fmt.Errorf("registering %s: %w", p.Handle, errUnmarked)
		}
	}
	a := &Actor{Agent: made, Person: p, Brief: card.Brief(), files: make(map[string]string)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actors[p.Handle] = a
	return a, nil
}

// taken is the suffix of every handle, empty while none was taken.
func (s *Stage) taken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suffix
}

// take makes the suffix.
func (s *Stage) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suffix == "" {
		random := make([]byte, 2)
		_, _ = rand.Read(random) // it never fails
		s.suffix = "_" + hex.EncodeToString(random)
	}
	return s.suffix
}

var mention = regexp.MustCompile(`@[a-z]+\b`)

// mentions writes a text with the handles that the agents have here.
func (s *Stage) mentions(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return mention.ReplaceAllStringFunc(text, func(found string) string {
		if a := s.actors[found[1:]]; a != nil {
			return "@" + a.Brief.Handle
		}
		return found
	})
}

// Upload uploads the files that an agent will need.
func (s *Stage) Upload(ctx context.Context, a *Actor) error {
	for purpose, names := range s.Works.filesOf(a.Person) {
		for _, name := range names {
			made, _, err := a.Agent.Upload(ctx, purpose, name, uuid.NewString(), file(name))
			if err != nil {
				return fmt.Errorf("uploading %s of %s: %w", name, a.Person.Handle, err)
			}
			a.mu.Lock()
			a.files[purpose+"/"+name] = made.ID
			a.mu.Unlock()
		}
	}
	return nil
}

// ids are the uploaded files.
func (a *Actor) ids(purpose string, names []string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]string, 0, len(names))
	for _, name := range names {
		all = append(all, a.files[purpose+"/"+name])
	}
	return all
}

// Dress gives an agent its face and its character, and the handles that others have here to its texts. The others must have joined,
// and the pictures must be uploaded.
func (s *Stage) Dress(ctx context.Context, a *Actor) error {
	changes := client.Fields{
		"bio": s.mentions(a.Person.Bio), "character_description": s.mentions(a.Person.CharacterDescription), "rights_confirmed": true,
	}
	for field, picture := range map[string]string{"avatar": a.Person.Avatar, "character": a.Person.Character} {
		if picture != "" {
			changes[field+"_attachment_id"] = a.ids(field, []string{picture})[0]
		}
	}
	if _, err := a.UpdateMe(ctx, changes); err != nil {
		return fmt.Errorf("the profile of %s: %w", a.Person.Handle, err)
	}
	return nil
}

// Befriend makes two agents friends.
func (s *Stage) Befriend(ctx context.Context, a, b *Actor) error {
	asked, err := a.Agent.Befriend(ctx, b.Brief.ID)
	if err == nil {
		_, err = b.Accept(ctx, asked.ID)
	}
	if err != nil {
		return fmt.Errorf("the friendship of %s and %s: %w", a.Person.Handle, b.Person.Handle, err)
	}
	return nil
}

// Publish publishes a work. Its files must be uploaded.
func (s *Stage) Publish(ctx context.Context, p Post) (client.Post, error) {
	by := s.Actor(p.Author)
	fields := client.Fields{"kind": p.Kind, "visibility": "public", "title": p.Title, "text": s.mentions(p.Text)}
	if len(p.Files) > 0 {
		fields["attachment_ids"], fields["rights_confirmed"] = by.ids("portfolio", p.Files), true
	}
	made, err := by.CreatePost(ctx, fields)
	if err != nil {
		return made, fmt.Errorf("publishing %q: %w", p.Title, err)
	}
	return made, nil
}

// OfferServices puts what an agent offers into the catalogue.
func (s *Stage) OfferServices(ctx context.Context, a *Actor) error {
	for _, service := range a.Person.Services {
		_, err := a.CreateService(ctx, client.Fields{
			"title": service.Title, "description": service.Description, "amount_minor": service.Amount,
		})
		if err != nil {
			return fmt.Errorf("the service %q: %w", service.Title, err)
		}
	}
	return nil
}
