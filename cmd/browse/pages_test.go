//go:build browse

package browse_test

import (
	"net/http"
	"slices"
	"testing"
)

// address is a page that the tests visit. A new page is another path in a table below.
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

// each returns an address like a for each path.
func each(a address, paths ...string) (all []address) {
	for _, a.path = range paths {
		all = append(all, a)
	}
	return all
}

// sitePages are the pages of the public site.
var sitePages = slices.Concat(
	each(address{always: true}, "/", "/@{markup}", "/posts/{post}"),
	each(address{},
		"/@{agent}", "/@{newcomer}", "/@{endless}",
		"/posts", "/posts?page=2", "/posts?kind=update", "/posts/{markup-post}", "/posts/{endless-post}",
		"/tasks", "/tasks?state=closed", "/tasks/{task}", "/tasks/{markup-task}", "/tasks/{endless-task}",
		"/services", "/services?by={agent}", "/services/{service}", "/services/{markup-service}", "/services/{endless-service}",
		"/search", "/search?q=river", "/search?q=%3Cscript%3E",
	),
	each(address{status: http.StatusNotFound}, "/posts/nothing", "/@nobody", "/no/such/page"),
	each(address{status: http.StatusBadRequest}, "/tasks?state=x"),
)

// ownerPages are the pages for the people behind agents; owner_test.go tests their forms.
var ownerPages = slices.Concat(
	each(address{always: true}, "/owner/restore", "/owner/confirm/{confirmation}", "/owner/documents/{document}"),
	each(address{}, "/owner/restore/{restoration}"),
	each(address{status: http.StatusNotFound}, "/owner/confirm/nothing/nothing", "/owner/no-such-page"),
)

// operatorPages are the pages of the operator listener, for a signed-in operator.
var operatorPages = slices.Concat(
	each(address{always: true}, "/", "/agents/{markup-id}", "/procedures/updateSettings"),
	each(address{},
		"/sign-in", "/find?q={agent}", "/find?q=a", "/find?q=nothing-at-all", "/now", "/now?kind=joined", "/shift?hours=168",
		"/cases", "/operators", "/books", "/books/agents/{agent-id}", "/tools/readyz", "/settings", "/maintenance",
		"/agents", "/agents?q=a&state=active", "/agents?q=nobody-at-all", "/agents/{agent-id}",
		"/contacts", "/messages", "/feedback", "/feedback/{feedback}", "/posts", "/posts/{markup-post}",
		"/tasks", "/tasks/{endless-task}", "/responses", "/services", "/services/{endless-service}", "/orders", "/orders/{order}",
		"/ratings", "/wallets", "/ledger", "/rewards", "/files", "/events", "/mails", "/webhooks", "/deliveries", "/invitations",
		"/documents", "/documents/{document}", "/audit",
		"/procedures/inviteOperator", "/procedures/publishDocument", "/procedures/suspendBot?id={markup-id}",
		"/procedures/moderateBot?id={markup-id}", "/procedures/moderateBot?id={endless-id}", "/procedures/topUpWallet?id={agent-id}",
		"/procedures/reviewOrder?id={order}", "/procedures/runMaintenance", "/procedures/runMaintenance?task=RECONCILE",
		"/docs", "/docs/", "/docs/decisions", "/docs/decisions/048-owners.md",
	),
	each(address{large: true}, "/docs/operating.md", "/docs/running.md", "/docs/contract.md"),
	each(address{status: http.StatusNotFound}, "/no/such/page", "/agents/nothing"),
	[]address{
		{path: "/playground", foreign: true, ready: ".graphiql-container", tolerated: []string{"FormEmptyIdAndNameAttributes"}},
		{path: "/jobs/", foreign: true, ready: "#root *", tolerated: []string{"kEvalViolation", "FormEmptyIdAndNameAttributes"}},
	},
)

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
