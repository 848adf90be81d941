package judge_test

import (
	"time"

	"stoa/cmd/prove/history"
)

// live has ann close and open her profile, change and delete posts, and publish a task; bob and cat see everything that they may.
func (s *story) live() {
	s.profile("painter", true)
	s.card("painter")
	s.profile("painter", false)
	s.missing("bob", history.CardGet, "ann")
	s.profile("poet", true)
	s.card("poet")

	made := s.ask("ann", history.PostCreate, "poem", "", 201, object{"post": object{"id": "p2", "text": "one"}})
	made.Sent = raw(object{"text": "one", "visibility": "public"})
	s.readPost("cat", "p2", "one")
	s.feed("cat", object{"id": "p2", "text": "one", "author": object{"id": id("ann")}})
	s.ask("ann", history.PostUpdate, "", "p2", 200, nil).Sent = raw(object{"text": "two", "visibility": "private"})
	s.missing("cat", history.PostGet, "p2")
	s.readPost("ann", "p2", "two")
	made = s.ask("ann", history.PostCreate, "gone", "", 201, object{"post": object{"id": "p3", "text": "x"}})
	made.Sent = raw(object{"text": "x"})
	s.ask("ann", history.PostDelete, "", "p3", 200, nil)
	s.missing("ann", history.PostGet, "p3")

	s.ask("ann", history.TaskCreate, "", "ann", 201, object{"task": object{"id": "t1"}})
	s.respond("bob", "t1", "r1")
	s.respond("cat", "t1", "r2")
	s.ask("cat", history.ResponseWithdraw, "", "r2", 200, nil).Of = "t1"
	s.ask("bob", history.TaskGet, "", "t1", 200, object{"task": object{"state": "open"}})
	s.responses("open")
	s.ask("ann", history.TaskClose, "", "t1", 200, nil)
	s.told("bob", "task.declined", object{"task_id": "t1", "response_id": "r1"})
	s.responses("declined")
	s.ask("bob", history.TaskGet, "", "t1", 200, object{"task": object{"state": "closed"}})
	late := s.ask("dan", history.TaskRespond, "t1 by dan", "t1", 409, nil)
	late.Code = "state_conflict"

	s.ask("ann", history.OrderRate, "rate", "paid", 201, object{"rating": object{"id": "ra1", "stars": 4}})
	s.told("bob", "order.rated", object{"order_id": "paid", "rating_id": "ra1", "stars": 4})
	s.ask("ann", history.OrderRate, "rate-again", "paid", 409, nil).Code = "state_conflict"
}

// profile sets ann's profile.
func (s *story) profile(bio string, shown bool) *history.Attempt {
	a := s.ask("ann", history.ProfileUpdate, "", "ann", 200, object{"bot": object{"bio": bio, "profile_public": shown}})
	a.Sent = raw(object{"bio": bio, "profile_public": shown})
	return a
}

// card has bob read ann's profile, which is shown.
func (s *story) card(bio string) {
	s.ask("bob", history.CardGet, "", "ann", 200, object{"bot": object{"bio": bio}})
}

func (s *story) readPost(reader, post, text string) {
	s.ask(reader, history.PostGet, "", post, 200, object{"post": object{"id": post, "text": text}})
}

// feed is a page of the posts that an agent sees.
func (s *story) feed(reader string, posts ...object) {
	s.ask(reader, history.PostFeed, "", "", 200, object{"posts": posts})
}

// lasting makes two public posts of bob's, who never closes its profile, and returns the older one as the feed has it.
func (s *story) lasting() (older object) {
	for _, name := range []string{"older", "newer"} {
		s.ask("bob", history.PostCreate, name, "", 201, object{"post": object{"id": name, "text": name}}).Sent = raw(object{"text": name, "visibility": "public"})
	}
	return object{"id": "older", "text": "older", "author": object{"id": id("bob")}}
}

// responses has ann list the responses to the task t1: bob's, in this state.
func (s *story) responses(state string) {
	s.ask("ann", history.ResponseList, "", "t1", 200, object{"responses": []object{{"id": "r1", "state": state}}})
}

// missing is a reading that finds nothing.
func (s *story) missing(reader, operation, subject string) {
	s.ask(reader, operation, "", subject, 404, nil).Code = "not_found"
}

// task has bob respond to the task t2 of ann's.
func (s *story) task() {
	s.ask("ann", history.TaskCreate, "", "ann", 201, object{"task": object{"id": "t2"}})
	s.ask("bob", history.TaskRespond, "t2 by bob", "t2", 201, object{"response": object{"id": "r-t2"}})
}

// choose has ann select bob's response to the task t2.
func (s *story) choose(key string) {
	a := s.ask("ann", history.TaskSelect, key, "", 201, object{"order": object{"id": "o-" + key}})
	a.Of, a.Sent = "t2", raw(object{"response_id": "r-t2", "confirmed_total_minor": 110})
}

// contact is an operation on the contact of two agents.
func (s *story) contact(agent, operation, other string, status int, state string, byMe bool) *history.Attempt {
	return s.ask(agent, operation, "", other, status, object{"contact": object{
		"id": "c-" + min(agent, other), "state": state, "requested_by_me": byMe, "bot": object{"id": id(other)},
	}})
}

var productDefects = []defect{
	{"a closed profile is shown", "profiles", "but it was deleted, private or of a closed profile", func(s *story) {
		s.profile("poet", false)
		s.card("poet")
	}},
	{"an open profile is hidden", "profiles", "but it was there to be seen", func(s *story) { s.missing("bob", history.CardGet, "ann") }},
	{"an old profile is shown", "profiles", `the bio "painter"`, func(s *story) { s.card("painter") }},
	{"a deleted post is read", "post readings", "deleted, private or of a closed profile", func(s *story) { s.readPost("ann", "p3", "x") }},
	{"a private post is read by another agent", "post readings", "deleted, private", func(s *story) { s.readPost("cat", "p2", "two") }},
	{"a closed profile's post is read", "post readings", "of a closed profile", func(s *story) {
		s.ask("ann", history.PostUpdate, "", "p2", 200, nil).Sent = raw(object{"visibility": "public"})
		s.profile("poet", false)
		s.readPost("cat", "p2", "two")
	}},

	{"a task with two winners", "tasks", "task t2 ended twice", func(s *story) {
		s.task()
		s.choose("one")
		s.choose("other")
	}},
	{"a task that is selected and closed", "tasks", "task t2 ended twice", func(s *story) {
		s.task()
		s.choose("one")
		s.ask("ann", history.TaskClose, "", "t2", 200, nil)
	}},
	{"a selected response is withdrawn", "tasks", "although order.select", func(s *story) {
		s.task()
		s.choose("one")
		s.ask("bob", history.ResponseWithdraw, "", "r-t2", 200, nil).Of = "t2"
	}},

	{"a feed with a private post", "feed", "lists post p2 of ann, which was deleted, private or of a closed profile", func(s *story) {
		s.feed("cat", object{"id": "p2", "text": "two", "author": object{"id": id("ann")}})
	}},
	{"a feed with an old text", "feed", "another by then", func(s *story) {
		s.feed("ann", object{"id": "p2", "text": "one", "author": object{"id": id("ann")}})
	}},
	{"a feed with a post twice", "feed", "twice", func(s *story) {
		older := s.lasting()
		s.feed("cat", older, older)
	}},
	{"a handle of two agents", "registrations", "although b2 has the handle", func(s *story) {
		for _, name := range []string{"b1", "b2"} {
			s.ask("twin", history.Register, "", "twin", 201, object{"bot": object{"id": name}})
		}
	}},
	{"two contacts of two agents", "contacts", "but ann and bob have c1", func(s *story) {
		edit(&s.first(history.ContactAccept).Body, "c1", "c2")
	}},
	{"asked for twice", "contacts", "no sequence of its changes explains contact.request", func(s *story) {
		s.contact("cat", history.ContactRequest, "dan", 201, "pending", true)
		s.contact("dan", history.ContactRequest, "cat", 201, "pending", true)
	}},
	{"accepted after a block", "contacts", "explains contact.accept", func(s *story) {
		s.contact("cat", history.ContactRequest, "dan", 201, "pending", true)
		s.contact("cat", history.ContactBlock, "dan", 200, "blocked", true)
		s.contact("dan", history.ContactAccept, "cat", 200, "accepted", false)
	}},
	{"a nonce of one sender is taken twice", "nonces", "were accepted under one nonce", func(s *story) {
		edit(&s.find("hello", 0).Sent, "nonce hello", "nonce again")
	}},
	{"a nonce is taken by both sides", "nonces", "were accepted under one nonce", func(s *story) {
		edit(&s.find("hello", 0).Sent, "nonce hello", "nonce answer")
	}},
}

var productAllowed = []innocent{
	{"a feed without a post of an agent that its reader has blocked", "feed", func(s *story) {
		older := s.lasting()
		s.contact("cat", history.ContactBlock, "bob", 200, "blocked", true)
		s.feed("cat", older)
	}},
	{"a profile read while it closes", "profiles", func(s *story) {
		a := s.profile("poet", false)
		a.End += time.Second
		s.card("poet")
		s.missing("bob", history.CardGet, "ann")
	}},
	{"a profile whose closing was not answered", "profiles", func(s *story) {
		a := s.profile("other", false)
		a.Status, a.Body = history.Unanswered, nil
		s.card("poet")
		s.missing("bob", history.CardGet, "ann")
	}},
	{"a task that is closed again", "tasks", func(s *story) { s.ask("ann", history.TaskClose, "", "t1", 200, nil) }},
	{"a selection that is repeated", "tasks", func(s *story) {
		s.task()
		s.choose("one")
		s.choose("one")
	}},
	{"both ask at once", "contacts", func(s *story) {
		a := s.contact("cat", history.ContactRequest, "dan", 200, "pending", false)
		a.End += time.Second
		s.contact("dan", history.ContactRequest, "cat", 201, "pending", true)
	}},
	{"a block whose answer was lost", "contacts", func(s *story) {
		s.contact("cat", history.ContactRequest, "dan", 201, "pending", true)
		s.contact("cat", history.ContactBlock, "dan", history.Unanswered, "", true)
		s.refused("dan", history.MessageSend, "late", "cat", 403, "contact_not_accepted")
		s.contact("dan", history.ContactAccept, "cat", 200, "accepted", false)
		s.contact("cat", history.ContactAccept, "dan", 403, "", false).Code = "contact_blocked"
	}},
	{"a nonce of other agents", "nonces", func(s *story) {
		s.message("dan", "cat", "elsewhere")
		edit(&s.find("elsewhere", 0).Sent, "nonce elsewhere", "nonce answer")
	}},
	{"a nonce that was refused", "nonces", func(s *story) {
		a := s.find("hello", 0)
		edit(&a.Sent, "nonce hello", "nonce again")
		a.Status, a.Code = 409, "nonce_reuse"
	}},
}
