package judge

import (
	"encoding/json"
	"slices"

	"stoa/cmd/prove/history"
)

// keyed says that a request has an idempotency key. The id of a post is its title only.
func (q *request) keyed() bool { return q.operation() != history.PostCreate }

func checkSettled(r *run, f *Finding) {
	for _, q := range r.requests {
		if q.isUndone() {
			f.Excused++
			continue
		}
		if !q.keyed() {
			continue
		}
		f.Looked++
		if !slices.ContainsFunc(q.attempts, settled) {
			last := q.attempts[len(q.attempts)-1]
			f.violatedf("%s was never settled in %d attempts, the last: %s", q, len(q.attempts), describe(last))
		}
	}
}

// effect identifies the effect of a request in its answer: the record that it made, or the version of the order.
type effect struct {
	Message struct {
		ID string `json:"id"`
	} `json:"message"`
	Attachment struct {
		ID     string `json:"id"`
		SHA256 string `json:"sha256"`
	} `json:"attachment"`
	Order struct {
		ID      string `json:"id"`
		State   string `json:"state"`
		Version int64  `json:"version"`
	} `json:"order"`
}

// effectOf reads an answer. One that cannot be read has no effect: checkRepeats reports it.
func effectOf(a *history.Attempt) (e effect) {
	_ = json.Unmarshal(a.Body, &e)
	return e
}

func checkPosts(r *run, f *Finding) {
	type count struct{ answered, unknown, listed, deleted int }
	posts := make(map[string]map[string]*count) // by author and title
	of := func(agent, title string) *count {
		if posts[agent] == nil {
			posts[agent] = make(map[string]*count)
		}
		if posts[agent][title] == nil {
			posts[agent][title] = new(count)
		}
		return posts[agent][title]
	}
	for _, q := range r.requests {
		if q.keyed() {
			continue
		}
		c := of(q.agent, q.id)
		c.unknown += q.unknown()
		for _, a := range q.attempts {
			if !a.Succeeded() {
				continue
			}
			c.answered++
			body, ok := decode[postAnswer](f, a)
			states := r.product.visibility[body.Post.ID].possible(r.end(), r.end())
			title, there := r.Final.Posts[a.Agent][body.Post.ID]
			switch {
			case !ok:
			case !there && slices.Contains(states, deleted):
				c.deleted++
			case !there || title != a.ID:
				f.violatedf("%s made post %s, which is not listed", describe(a), body.Post.ID)
			case len(states) > 0 && !slices.Contains(states, private) && !slices.Contains(states, public):
				f.violatedf("%s made post %s, which was deleted and is listed", describe(a), body.Post.ID)
			}
		}
	}
	for agent, listed := range r.Final.Posts {
		for _, title := range listed {
			of(agent, title).listed++
		}
	}
	for _, agent := range sorted(posts) {
		for _, title := range sorted(posts[agent]) {
			c := posts[agent][title]
			f.Looked++
			f.Excused += c.unknown
			if listed := c.listed + c.deleted; listed < c.answered || listed > c.answered+c.unknown {
				f.violatedf("post %q of %s is listed %d times: %d were answered, of %d the answer is unknown",
					title, agent, c.listed, c.answered, c.unknown)
			}
		}
	}
}

// checkUnsound looks for files that were taken and should have been refused.
func checkUnsound(r *run, f *Finding) {
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Operation == history.FileUnsound {
			f.Looked++
			if a.Succeeded() {
				f.violatedf("%s, but it is no sound file", describe(a))
			}
		}
	}
}

func checkFiles(r *run, f *Finding) {
	checkUnsound(r, f)
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || a.Operation != history.FileUpload {
			continue
		}
		f.Looked++
		body := effectOf(a)
		switch hash, there := r.Final.Files[body.Attachment.ID]; {
		case !there:
			f.violatedf("%s made file %s, which is gone", describe(a), body.Attachment.ID)
		case hash != a.Subject || hash != body.Attachment.SHA256:
			f.violatedf("%s made file %s with hash %s, which has now %s",
				describe(a), body.Attachment.ID, body.Attachment.SHA256, hash)
		}
	}
}
