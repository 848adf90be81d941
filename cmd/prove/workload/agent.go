package workload

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

// Agent is one agent. Its methods act, listen and seekOwner run concurrently; members without another note belong to act.
type Agent struct {
	Handle, ID string

	w       *Workload
	client  *http.Client
	address string
	random  *mathrand.Rand
	// chance is the random source of listen.
	chance *mathrand.Rand

	keys    client.Keys
	friends []*Agent
	owner   owner
	// tokens counts the agent's earlier tokens.
	tokens int
	// closes: the agent closes and opens its profile.
	closes bool
	// mu guards the following members, which all three methods use.
	mu    sync.Mutex
	token string
	// unsettled are requests without a final answer. answers are answered requests, the newest last, to be repeated.
	unsettled, answers []request
	// dice is the random source for decisions about requests, for all three methods.
	dice *mathrand.Rand
	// posted counts posts and makes their titles unique.
	posted int
}

// newStranger returns a client with its own loopback address, because limits count addresses.
func (w *Workload) newStranger(number int) *Agent {
	a := &Agent{w: w, address: fmt.Sprintf("127.1.%d.%d", number/250, number%250+1), random: w.random(uint64(2 * number)),
		chance: w.random(uint64(2*number + 1)), dice: w.random(1<<33 + uint64(number)), owner: newOwner(w, number)}
	a.client = &http.Client{
		Timeout: requestTimeout,
		// The load balancer closes a connection that was idle for 60 s, maybe while a request is on its way.
		Transport: &http.Transport{DialContext: a.dialer().DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second},
	}
	return a
}

func (a *Agent) dialer() *net.Dialer {
	return &net.Dialer{Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(a.address)}}
}

// candidate returns an agent that is not registered yet.
func (w *Workload) candidate(handle string) *Agent {
	a := w.newStranger(len(w.registered))
	a.Handle = handle
	a.keys, _ = client.NewKeys() // it never fails
	return a
}

func (a *Agent) registration() request {
	return request{operation: history.Register, subject: a.Handle,
		body: members{"handle": a.Handle, "display_name": a.Handle, "encryption_public_key": a.keys.Public()}}
}

// newAgent registers an agent before the faults.
func (w *Workload) newAgent(ctx context.Context, handle string) (*Agent, error) {
	a := w.candidate(handle)
	return a, a.adopt(a.once(ctx, a.registration()))
}

// newAgents registers several agents; format makes their handles from their numbers.
func (w *Workload) newAgents(ctx context.Context, format string, count int) (all []*Agent, err error) {
	for i := range count {
		a, err := w.newAgent(ctx, fmt.Sprintf(format, i))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// newTwins registers two agents under one handle at the same time, through different servers.
func (w *Workload) newTwins(ctx context.Context) error {
	one, other := w.candidate("twin"), w.candidate("twin")
	answers := w.atOnce(ctx, 0, moving{one, one.registration()}, moving{other, other.registration()})
	if answers[0].Succeeded() {
		return one.adopt(answers[0])
	}
	return other.adopt(answers[1])
}

// adopt reads the answer of the agent's registration.
func (a *Agent) adopt(got answer) error {
	if !got.Succeeded() {
		return fmt.Errorf("%s cannot register: %d %s", a.Handle, got.Status, got.Body)
	}
	w := a.w
	a.ID, a.token = got.text("bot.id"), got.text("token")
	w.registered = append(w.registered, a)
	return nil
}

func (a *Agent) bearer() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token
}

func (a *Agent) friend() *Agent { return one(a.random, a.friends) }

func (a *Agent) stranger() *Agent {
	return one(a.random, slices.DeleteFunc(slices.Clone(a.w.Agents), func(other *Agent) bool { return other == a }))
}

func (w *Workload) byID(id string) *Agent {
	return w.registered[slices.IndexFunc(w.registered, func(a *Agent) bool { return a.ID == id })]
}

func (a *Agent) befriend(ctx context.Context, other *Agent) error {
	asked, failed := a.need(ctx, a.contactRequest(other), nil)
	if failed != nil {
		return failed
	}
	_, err := other.need(ctx, other.acceptance(a, asked.text("contact.id")), nil)
	a.friends, other.friends = append(a.friends, other), append(other.friends, a)
	return err
}

func (a *Agent) contactRequest(other *Agent) request {
	return request{operation: history.ContactRequest, subject: other.Handle, body: members{"recipient_id": other.ID}}
}

func (a *Agent) acceptance(other *Agent, contact string) request {
	return request{operation: history.ContactAccept, subject: other.Handle, part: contact, body: members{}}
}

// block ends a contact for both.
func (a *Agent) block(other *Agent, contact string) request {
	return request{operation: history.ContactBlock, subject: other.Handle, part: contact, body: members{}}
}

// contactWith finds the contact with another agent; mine reports whether this agent requested it. id is empty if there is no
// contact, or if the contacts cannot be read.
func (a *Agent) contactWith(ctx context.Context, other *Agent) (id string, mine bool) {
	all, _ := pages[client.Contact](ctx, a, request{operation: history.ContactList, subject: a.Handle}, "contacts", nil)
	for _, c := range all {
		if c.Bot.ID == other.ID {
			return c.ID, c.RequestedByMe
		}
	}
	return "", false
}

// pace is the mean time between the actions of an agent: below the limits of §8, with room for repeats.
const pace = 900 * time.Millisecond

// actions of agents, by frequency.
var actions = []weighted[func(a *Agent, ctx context.Context)]{
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
	{2, (*Agent).rateOrder},
	{2, (*Agent).dealWithDrafts},
}

// act runs one action after the other until ctx ends.
func (a *Agent) act(ctx context.Context) {
	regularly(ctx, a.random, pace, func() { drawn(a.random, actions)(a, ctx) })
}

func newNonce() (nonce [24]byte) {
	_, _ = rand.Read(nonce[:]) // it never fails
	return nonce
}

// seal is a request that sends a new message.
func (a *Agent) seal(to *Agent) request { return a.sealAs(uuid.NewString(), to, newNonce()) }

// sealAs is like seal, with an id and a nonce, which another message may have.
func (a *Agent) sealAs(id string, to *Agent, nonce [24]byte) request {
	text := history.MessageText(a.Handle, to.Handle, id)
	sealed, _ := a.keys.SealWith(to.ID, to.keys.Public(), text, id, nonce) // the key and the text are sound
	return request{operation: history.MessageSend, id: id, subject: to.Handle, body: sealed}
}

func (a *Agent) sendMessage(ctx context.Context) { a.repeat(ctx, a.seal(a.friend())) }

func (a *Agent) readMessages(ctx context.Context) { a.once(ctx, a.conversation(a.friend())) }

func (a *Agent) conversation(with *Agent) request {
	return request{operation: "message.list", subject: with.Handle, part: with.ID}
}

// allMessages reads the whole conversation with a friend, oldest first, in steps: any message may end a page (§1.5), and few
// conversations fill one.
func (a *Agent) allMessages(ctx context.Context, with *Agent) (all []history.Message, err error) {
	type message struct {
		history.Message

		Nonce string `json:"nonce"`
	}
	read, err := pages(ctx, a, a.conversation(with), "messages", func(m message) string { return m.ID })
	for _, m := range slices.Backward(read) {
		m.Text, _ = a.keys.Open(client.Envelope{ // the judge notices if it does not open
			Version: client.Version, SenderKey: with.keys.Public(), RecipientKey: a.keys.Public(), Nonce: m.Nonce, Ciphertext: m.Ciphertext,
		})
		all = append(all, m.Message)
	}
	return all, err
}
