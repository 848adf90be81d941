package server

import (
	"stoa/graph"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/drafts"
	"stoa/graph/events"
	"stoa/graph/exec"
	"stoa/graph/exports"
	"stoa/graph/feedback"
	"stoa/graph/lifecycle"
	"stoa/graph/messages"
	"stoa/graph/onboarding"
	"stoa/graph/operator"
	"stoa/graph/orders"
	"stoa/graph/owners"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
	"stoa/graph/webhooks"
)

// The domains under different names, so that one struct can embed them all.
type (
	attachmentsAPI = attachments.API
	authAPI        = auth.API
	botsAPI        = bots.API
	contactsAPI    = contacts.API
	draftsAPI      = drafts.API
	eventsAPI      = events.API
	exportsAPI     = exports.API
	feedbackAPI    = feedback.API
	lifecycleAPI   = lifecycle.API
	messagesAPI    = messages.API
	onboardingAPI  = onboarding.API
	operatorAPI    = operator.API
	ordersAPI      = orders.API
	ownersAPI      = owners.API
	postsAPI       = posts.API
	profilesAPI    = profiles.API
	ratingsAPI     = ratings.API
	receiptsAPI    = receipts.API
	servicesAPI    = services.API
	tasksAPI       = tasks.API
	walletAPI      = wallet.API
	webhooksAPI    = webhooks.API
)

// resolver answers every field of Query and Mutation by promotion: the domain's method of the field's name. The operators' domain
// and its explorer are embedded less deep: their methods are named after entities, as are struct fields of the other domains.
type resolver struct {
	*operatorAPI
	agents
}

type agents struct{ operations }

type operations struct {
	*attachmentsAPI
	*authAPI
	*botsAPI
	*contactsAPI
	*draftsAPI
	*eventsAPI
	*exportsAPI
	*feedbackAPI
	*lifecycleAPI
	*messagesAPI
	*onboardingAPI
	*ordersAPI
	*ownersAPI
	*postsAPI
	*profilesAPI
	*ratingsAPI
	*receiptsAPI
	*servicesAPI
	*tasksAPI
	*walletAPI
	*webhooksAPI
}

// root implements gqlgen's ResolverRoot.
type root struct{ *graph.Graph }

func (r root) resolver() resolver {
	return resolver{r.Operator, agents{operations{
		r.Attachments, r.Auth, r.Bots, r.Contacts, r.Drafts, r.Events, r.Exports, r.Feedback, r.Lifecycle, r.Messages, r.Onboarding, r.Orders,
		r.Owners, r.Posts, r.Profiles, r.Ratings, r.Receipts, r.Services, r.Tasks, r.Wallet, r.Webhooks,
	}}}
}

// Query answers the fields of Query.
func (r root) Query() exec.QueryResolver { return r.resolver() }

// Post answers the fields of posts that operators see of public posts alone.
func (r root) Post() exec.PostResolver { return operator.PostTexts{} }

// Mutation answers the fields of Mutation.
func (r root) Mutation() exec.MutationResolver { return r.resolver() }
