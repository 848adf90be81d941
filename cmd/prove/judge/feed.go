package judge

import (
	"slices"

	"stoa/cmd/prove/history"
)

// feedAnswer is {posts}.
type feedAnswer struct {
	Posts []struct {
		ID     string `json:"id"`
		Text   string `json:"text"`
		Author struct {
			ID string `json:"id"`
		} `json:"author"`
	} `json:"posts"`
}

// checkFeed judges each post of a page of the feed as a reading of it, and looks for posts that the page lacks.
func checkFeed(r *run, f *Finding) {
	created := make(map[string]*history.Attempt) // by the post's id
	for i := range r.Attempts {
		var made postAnswer
		if a := &r.Attempts[i]; a.Operation == history.PostCreate && a.Succeeded() && into(a, &made) {
			created[made.Post.ID] = a
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Operation != history.PostFeed {
			continue
		}
		body, ok := answerOf[feedAnswer](a, f)
		if !ok {
			continue
		}
		r.judgeFeed(a, body, created, f)
	}
}

// judgeFeed judges one page.
func (r *run) judgeFeed(a *history.Attempt, body feedAnswer, created map[string]*history.Attempt, f *Finding) {
	listed := make(map[string]bool)
	var oldest *history.Attempt
	for _, p := range body.Posts {
		if listed[p.ID] {
			f.violatedf("%s lists post %s twice", describe(a), p.ID)
		}
		listed[p.ID] = true
		author := r.product.authors[p.ID]
		switch {
		case author == "": // it is not known
		case author != r.handles[p.Author.ID] || !r.maySee(a, p.ID):
			f.violatedf("%s lists post %s of %s, which was deleted, private or of a closed profile", describe(a), p.ID, author)
		case !r.product.texts[p.ID].may(a, p.Text):
			f.violatedf("%s lists post %s with the text %q, which is another by then", describe(a), p.ID, p.Text)
		}
		if c := created[p.ID]; r.isLasting(p.ID) && (oldest == nil || c.End < oldest.End) {
			oldest = c
		}
	}
	for _, id := range sorted(created) {
		if c := created[id]; oldest != nil && c.Start > oldest.End && c.End < a.Start && r.isLasting(id) && !listed[id] {
			f.violatedf("%s lacks post %s, and lists an older one", describe(a), id)
		}
	}
}

// maySee says that the agent of a reading may see a post.
func (r *run) maySee(a *history.Attempt, post string) bool {
	visibility, author := r.product.visibility[post], r.product.authors[post]
	if author == a.Agent {
		return visibility.may(a, public) || visibility.may(a, private)
	}
	return visibility.may(a, public) && r.product.openness[author].may(a, open)
}

// isLasting says that a post was public from its beginning on, and its author's profile open all the time.
func (r *run) isLasting(post string) bool {
	always := func(g register, value string) bool {
		return len(g) > 0 && !slices.ContainsFunc(g, func(w write) bool { return w.value != value })
	}
	return always(r.product.visibility[post], public) && always(r.product.openness[r.product.authors[post]], open)
}
