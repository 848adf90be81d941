package workload

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"stoa/cmd/prove/history"

	"golang.org/x/crypto/nacl/box"
)

// Agent is one agent. Its methods act, listen and seekOwner run side by side; what says nothing else belongs to act.
type Agent struct {
	Handle, ID string

	w       *Workload
	client  *http.Client
	address string
	token   string
	random  *mathrand.Rand
	// chance is the source of the listening half.
	chance *mathrand.Rand

	public, private *[32]byte
	friends         []*Agent
	owner           owner
	// unsettled are the requests without a final answer, of all three; mu guards it.
	mu        sync.Mutex
	unsettled []request
	// posted counts posts, whose titles it makes unique.
	posted int
}

// newAgent registers an agent, before there are faults.
func (w *Workload) newAgent(ctx context.Context, handle string) (*Agent, error) {
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	number := len(w.registered)
	client, address := newHTTPClient(number)
	a := &Agent{
		Handle: handle, w: w, client: client, address: address, public: public, private: private,
		random: w.random(uint64(2 * number)), chance: w.random(uint64(2*number + 1)), owner: newOwner(w, number),
	}
	got := a.once(ctx, request{operation: "register", subject: handle, method: http.MethodPost, path: "/bots/register",
		body: map[string]string{"handle": handle, "display_name": handle, "encryption_public_key": a.key()}})
	var made struct {
		Bot struct {
			ID string `json:"id"`
		} `json:"bot"`
		Token string `json:"token"`
	}
	if !got.succeeded() {
		return nil, fmt.Errorf("%s cannot register: %d %s", handle, got.status, got.body)
	}
	if err := got.into(&made); err != nil {
		return nil, err
	}
	a.ID, a.token = made.Bot.ID, made.Token
	w.registered = append(w.registered, a)
	w.Recorder.Record(func(h *history.History) { h.Members = append(h.Members, history.Member{Handle: handle, ID: a.ID}) })
	return a, nil
}

func (a *Agent) key() string { return encode(a.public[:]) }

func encode(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

func (a *Agent) isFriend(other *Agent) bool { return slices.Contains(a.friends, other) }

// befriend requests friendship and lets the other accept.
func (a *Agent) befriend(ctx context.Context, other *Agent) error {
	got := a.once(ctx, request{operation: "contact.request", subject: other.Handle, method: http.MethodPost,
		path: "/contacts/requests", body: map[string]string{"recipient_id": other.ID}, keep: true})
	var asked struct {
		Contact struct {
			ID string `json:"id"`
		} `json:"contact"`
	}
	if !got.succeeded() {
		return fmt.Errorf("%s and %s cannot be friends: %d %s", a.Handle, other.Handle, got.status, got.body)
	}
	if err := json.Unmarshal(got.body, &asked); err != nil {
		return err
	}
	got = other.once(ctx, request{operation: "contact.accept", subject: a.Handle, method: http.MethodPost,
		path: "/contacts/" + asked.Contact.ID + "/accept", body: struct{}{}, keep: true})
	if !got.succeeded() {
		return fmt.Errorf("%s does not accept %s: %d %s", other.Handle, a.Handle, got.status, got.body)
	}
	a.friends, other.friends = append(a.friends, other), append(other.friends, a)
	return nil
}

// pace is the mean time between the actions of an agent: below the limits of §8, with room for repeats.
const pace = 500 * time.Millisecond

// actions of agents, by frequency.
var actions = []struct {
	weight int
	do     func(a *Agent, ctx context.Context)
}{
	{6, (*Agent).sendMessage},
	{3, (*Agent).offerOrder},
	{9, (*Agent).actOnOrder},
	{4, (*Agent).readOrder},
	{2, (*Agent).readWallet},
	{2, (*Agent).readMessages},
	{1, (*Agent).publish},
	{1, (*Agent).uploadFile},
}

// act does one thing after the other until ctx ends.
func (a *Agent) act(ctx context.Context) {
	total := 0
	for _, action := range actions {
		total += action.weight
	}
	for a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(pace))) {
		drawn := a.random.IntN(total)
		for _, action := range actions {
			if drawn -= action.weight; drawn < 0 {
				action.do(a, ctx)
				break
			}
		}
	}
}

// friend draws one of the friends.
func (a *Agent) friend() *Agent { return a.friends[a.random.IntN(len(a.friends))] }
