package workload

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// post is a post that its author was answered.
type post struct {
	id     string
	author *Agent
}

// dealWithPosts changes, deletes or reads a post.
func (a *Agent) dealWithPosts(ctx context.Context) {
	own, hasOwn := a.w.posts.draw(a.random, func(p post) bool { return p.author == a })
	other, hasOther := a.w.posts.draw(a.random, func(post) bool { return true })
	switch way := a.random.IntN(10); {
	case hasOwn && way < 4:
		body := map[string]any{"text": "Changed to " + uuid.NewString()}
		if a.random.IntN(2) == 0 {
			body["visibility"] = []string{"private", "public"}[a.random.IntN(2)]
		}
		a.change(ctx, own.update(body), own.read())
	case hasOwn && way < 6:
		a.change(ctx, own.deletion(), own.read())
	case hasOther:
		a.once(ctx, other.read())
	}
}

func (p post) read() request {
	return request{operation: history.PostGet, subject: p.id, method: http.MethodGet, path: "/posts/" + p.id, keep: true}
}

func (p post) update(body map[string]any) request {
	return request{operation: history.PostUpdate, subject: p.id, method: http.MethodPatch, path: "/posts/" + p.id, body: body, keep: true, noted: true}
}

func (p post) deletion() request {
	return request{operation: history.PostDelete, subject: p.id, method: http.MethodDelete, path: "/posts/" + p.id, keep: true}
}

// feed is the first page of the posts that an agent sees.
func feed(server string) request {
	return request{operation: history.PostFeed, method: http.MethodGet, path: "/posts?page_size=50", keep: true, server: server}
}

// contendForPost has a post changed and deleted at once, and read by others after that.
func (w *Workload) contendForPost(ctx context.Context) {
	drawn := w.drawRivals()
	author, reader := drawn[0], drawn[1]
	p, ok := author.write(ctx, "public")
	if !ok {
		return
	}
	w.contest(ctx, moving{author, p.deletion()}, moving{author, p.update(map[string]any{"text": "Changed to " + uuid.NewString()})})
	w.contest(ctx, moving{author, p.read()}, moving{reader, p.read()}, moving{reader, feed("")})
}

// change makes a change once, and has it read by the agent itself and by another one, while it happens and right after its answer,
// through other servers.
func (a *Agent) change(ctx context.Context, change, read request) {
	reader := a.stranger()
	change.server, read.server = a.twoServers()
	together(func() { a.once(ctx, change) }, func() { reader.once(ctx, read) })
	reader.once(ctx, read)
	reader.once(ctx, feed(read.server))
	a.once(ctx, read)
}

// stranger draws another agent.
func (a *Agent) stranger() *Agent {
	for {
		if other := a.w.Agents[a.random.IntN(len(a.w.Agents))]; other != a {
			return other
		}
	}
}

// changeProfile changes the profile, and closes or opens it if the agent is one of those that do. Others are rewarded for an open one.
func (a *Agent) changeProfile(ctx context.Context) {
	body := map[string]any{"bio": "I take part in a proof, " + uuid.NewString()}
	if a.closes && a.random.IntN(3) > 0 {
		body["profile_public"] = a.random.IntN(2) == 0
	}
	a.change(ctx, a.profileChange(body), a.card())
}

// profileChange is a request that changes the profile.
func (a *Agent) profileChange(body map[string]any) request {
	return request{operation: history.ProfileUpdate, subject: a.Handle, method: http.MethodPatch, path: "/bots/me", body: body, keep: true, noted: true}
}

// card is a request for the agent's public card.
func (a *Agent) card() request {
	return request{operation: history.CardGet, subject: a.Handle, method: http.MethodGet, path: "/bots/" + a.ID, keep: true}
}

// report reports another agent to the operators, mostly twice at the same moment.
func (a *Agent) report(ctx context.Context) {
	other := a.stranger()
	r := request{operation: history.Report, subject: other.Handle, method: http.MethodPost, path: "/feedback", keep: true,
		body: map[string]any{"kind": "report", "text": "Only for the proof.", "subject": map[string]string{"type": "bot", "id": other.ID}}}
	first, second := a.pair(ctx, r, r)
	a.noteReport(first)
	a.noteReport(second)
}
