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
	// tokens counts the tokens that the agent has had before the present one.
	tokens int
	// tools says that the agent calls tools in the place of half of its requests.
	tools bool
	// closes says that the agent closes and opens its profile.
	closes bool
	// mu guards what follows, which all three use.
	mu sync.Mutex
	// unsettled are the requests without a final answer.
	unsettled []request
	// answers are requests that were answered, the newest last, to be made again.
	answers []request
	// dice is the source for decisions about requests of all three.
	dice *mathrand.Rand
	// posted counts posts, whose titles it makes unique.
	posted int
}

// candidate returns an agent that is not registered yet.
func (w *Workload) candidate(handle string) (*Agent, error) {
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	number := len(w.registered)
	client, address := newHTTPClient(number)
	return &Agent{
		Handle: handle, w: w, client: client, address: address, public: public, private: private,
		random: w.random(uint64(2 * number)), chance: w.random(uint64(2*number + 1)), dice: w.random(1<<33 + uint64(number)),
		owner: newOwner(w, number),
	}, nil
}

// newAgent registers an agent, before there are faults.
func (w *Workload) newAgent(ctx context.Context, handle string) (*Agent, error) {
	a, err := w.candidate(handle)
	if err != nil {
		return nil, err
	}
	got := a.once(ctx, request{operation: "register", subject: handle, method: http.MethodPost, path: "/bots/register",
		body: map[string]string{"handle": handle, "display_name": handle, "encryption_public_key": a.key()}})
	return a, a.adopt(got)
}

// newTwins registers two agents under one handle at the same moment, through different servers.
func (w *Workload) newTwins(ctx context.Context) error {
	one, err := w.candidate("twin")
	if err != nil {
		return err
	}
	other, err := w.candidate("twin")
	if err != nil {
		return err
	}
	register := func(a *Agent, server string, got *answer) func() {
		return func() {
			*got = a.once(ctx, request{operation: history.Register, subject: a.Handle, method: http.MethodPost, path: "/bots/register", keep: true,
				server: server, body: map[string]string{"handle": a.Handle, "display_name": a.Handle, "encryption_public_key": a.key()}})
		}
	}
	var first, second answer
	together(register(one, w.servers[0], &first), register(other, w.servers[len(w.servers)-1], &second))
	if first.succeeded() {
		return one.adopt(first)
	}
	return other.adopt(second)
}

// adopt reads the answer of the agent's registration.
func (a *Agent) adopt(got answer) error {
	w := a.w
	var made struct {
		Bot struct {
			ID string `json:"id"`
		} `json:"bot"`
		Token string `json:"token"`
	}
	if !got.succeeded() {
		return fmt.Errorf("%s cannot register: %d %s", a.Handle, got.status, got.body)
	}
	if err := got.into(&made); err != nil {
		return err
	}
	a.ID, a.token = made.Bot.ID, made.Token
	w.registered = append(w.registered, a)
	w.Recorder.Record(func(h *history.History) { h.Members = append(h.Members, history.Member{Handle: a.Handle, ID: a.ID}) })
	return nil
}

func (a *Agent) key() string { return encode(a.public[:]) }

func encode(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

func (a *Agent) isFriend(other *Agent) bool { return slices.Contains(a.friends, other) }

// befriend requests friendship and lets the other accept.
func (a *Agent) befriend(ctx context.Context, other *Agent) error {
	got := a.once(ctx, a.contactRequest(other))
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
	got = other.once(ctx, other.acceptance(a, asked.Contact.ID))
	if !got.succeeded() {
		return fmt.Errorf("%s does not accept %s: %d %s", other.Handle, a.Handle, got.status, got.body)
	}
	a.friends, other.friends = append(a.friends, other), append(other.friends, a)
	return nil
}

// pace is the mean time between the actions of an agent: below the limits of §8, with room for repeats.
const pace = 900 * time.Millisecond

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
	{2, (*Agent).recall},
	{4, (*Agent).dealWithTasks},
	{1, (*Agent).readTask},
	{2, (*Agent).dealWithPosts},
	{2, (*Agent).changeProfile},
	{1, (*Agent).report},
	{2, (*Agent).rateOrder},
	{2, (*Agent).dealWithDrafts},
	{1, (*Agent).useTool},
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
