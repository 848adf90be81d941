//go:build browse

package browse_test

import (
	"net/http"
	"testing"
)

// address is a page that the tests visit. A new page is another line in a table below.
type address struct {
	// path on its listener. Names in braces stand for records of the fixture, such as {task} for a task's id.
	path string
	// status of the answer; 0 means 200.
	status int64
	// foreign is true if the page is not ours. Then the tests only open it, without checks of its form and its accessibility.
	foreign bool
	// ready selects an element that must exist before the page counts as loaded; empty if loading is enough.
	ready string
	// tolerated are parts of complaints of the browser about code of others.
	tolerated []string
	// large is true if the page may have more than 50 KB, as documentation does.
	large bool
	// always is true if the page is visited with -short, too.
	always bool
}

// sitePages are the pages of the public site.
var sitePages = []address{
	{path: "/", always: true},
	{path: "/@{agent}"},
	{path: "/@{newcomer}"},
	{path: "/@{markup}", always: true},
	{path: "/@{endless}"},
	{path: "/posts"},
	{path: "/posts?page=2"},
	{path: "/posts?kind=update"},
	{path: "/posts/{post}", always: true},
	{path: "/posts/{markup-post}"},
	{path: "/posts/{endless-post}"},
	{path: "/tasks"},
	{path: "/tasks?state=closed"},
	{path: "/tasks/{task}"},
	{path: "/tasks/{markup-task}"},
	{path: "/tasks/{endless-task}"},
	{path: "/services"},
	{path: "/services?by={agent}"},
	{path: "/services/{service}"},
	{path: "/services/{markup-service}"},
	{path: "/services/{endless-service}"},
	{path: "/search"},
	{path: "/search?q=river"},
	{path: "/search?q=%3Cscript%3E"},
	{path: "/posts/nothing", status: http.StatusNotFound},
	{path: "/@nobody", status: http.StatusNotFound},
	{path: "/no/such/page", status: http.StatusNotFound},
	{path: "/tasks?state=x", status: http.StatusBadRequest},
}

// ownerPages are the pages for the people behind agents; owner_test.go tests their forms.
var ownerPages = []address{
	{path: "/owner/restore", always: true},
	{path: "/owner/confirm/{confirmation}", always: true},
	{path: "/owner/restore/{restoration}"},
	{path: "/owner/documents/{document}", always: true},
	{path: "/owner/confirm/nothing/nothing", status: http.StatusNotFound},
	{path: "/owner/no-such-page", status: http.StatusNotFound},
}

// operatorPages are the pages of the operator listener, for a signed-in operator.
var operatorPages = []address{
	{path: "/", always: true},
	{path: "/sign-in"},
	{path: "/find?q={agent}"},
	{path: "/find?q=a"},
	{path: "/find?q=nothing-at-all"},
	{path: "/now"},
	{path: "/now?kind=joined"},
	{path: "/shift?hours=168"},
	{path: "/cases"},
	{path: "/operators"},
	{path: "/procedures/inviteOperator"},
	{path: "/books"},
	{path: "/tools/readyz"},
	{path: "/procedures/runMaintenance?task=RECONCILE"},
	{path: "/books/agents/{agent-id}"},
	{path: "/settings"},
	{path: "/maintenance"},
	{path: "/agents"},
	{path: "/agents?q=a&state=active"},
	{path: "/agents?q=nobody-at-all"},
	{path: "/agents/{agent-id}"},
	{path: "/agents/{markup-id}", always: true},
	{path: "/contacts"},
	{path: "/messages"},
	{path: "/feedback"},
	{path: "/feedback/{feedback}"},
	{path: "/posts"},
	{path: "/posts/{markup-post}"},
	{path: "/tasks"},
	{path: "/tasks/{endless-task}"},
	{path: "/responses"},
	{path: "/services"},
	{path: "/services/{endless-service}"},
	{path: "/orders"},
	{path: "/orders/{order}"},
	{path: "/ratings"},
	{path: "/wallets"},
	{path: "/ledger"},
	{path: "/rewards"},
	{path: "/files"},
	{path: "/events"},
	{path: "/mails"},
	{path: "/webhooks"},
	{path: "/deliveries"},
	{path: "/invitations"},
	{path: "/documents"},
	{path: "/documents/{document}"},
	{path: "/audit"},
	{path: "/procedures/updateSettings", always: true},
	{path: "/procedures/publishDocument"},
	{path: "/procedures/suspendBot?id={markup-id}"},
	{path: "/procedures/moderateBot?id={markup-id}"},
	{path: "/procedures/moderateBot?id={endless-id}"},
	{path: "/procedures/topUpWallet?id={agent-id}"},
	{path: "/procedures/reviewOrder?id={order}"},
	{path: "/procedures/runMaintenance"},
	{path: "/no/such/page", status: http.StatusNotFound},
	{path: "/agents/nothing", status: http.StatusNotFound},
	{path: "/docs"},
	{path: "/docs/"},
	{path: "/docs/operating.md", large: true},
	{path: "/docs/running.md", large: true},
	{path: "/docs/contract.md", large: true},
	{path: "/docs/decisions"},
	{path: "/docs/decisions/048-owners.md"},
	{path: "/playground", foreign: true, ready: ".graphiql-container", tolerated: []string{"FormEmptyIdAndNameAttributes"}},
	{path: "/jobs/", foreign: true, ready: "#root *", tolerated: []string{"kEvalViolation", "FormEmptyIdAndNameAttributes"}},
}

func TestSite(t *testing.T) {
	t.Parallel()
	walk(t, sitePages, func(s *fixture) string { return s.public })
}

func TestOwner(t *testing.T) {
	t.Parallel()
	walk(t, ownerPages, func(s *fixture) string { return s.public })
}

func TestOperator(t *testing.T) {
	t.Parallel()
	signIn(t)
	walk(t, operatorPages, func(s *fixture) string { return s.operator })
}

// walk checks each page of a table, with scripts and without; with -short only three pages.
func walk(t *testing.T, pages []address, origin func(*fixture) string) {
	t.Helper()
	s := newFixture(t)
	for _, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			if !p.always {
				nightly(t)
			}
			t.Parallel()
			at := origin(s) + s.names.Replace(p.path)
			b := newTab(t)
			b.visit(p, at)
			b.inspect(p, true)
			if p.foreign {
				return
			}
			b.inspectLinks(at, p)
			b.setScripts(false)
			b.visit(p, at)
			b.inspect(p, false)
		})
	}
}
