package services_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
	"stoa/graph/services"
)

var ptr = graphtest.Ptr[string]

// world adds helpers for the tests of services to a graphtest.World.
type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t testing.TB, options ...graphtest.Option) *world {
	t.Helper()
	return &world{graphtest.New(t, options...), t}
}

func (w *world) create(by *graphtest.Agent, title, description string) (*services.Card, error) {
	made, err := w.Services.CreateService(by.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: &title, Description: &description}})
	if err != nil {
		return nil, err
	}
	return made.Service, nil
}

func (w *world) created(by *graphtest.Agent, title, description string) *services.Card {
	w.t.Helper()
	made := graphtest.Got(w.create(by, title, description))(w.t)
	return made
}

func (w *world) update(by *graphtest.Agent, id uuid.UUID, f services.Fields) (*services.Card, error) {
	changed, err := w.Services.UpdateService(by.Ctx, services.UpdateServiceInput{ServiceID: id.String(), Fields: f})
	if err != nil {
		return nil, err
	}
	return changed.Service, nil
}

func (w *world) remove(by *graphtest.Agent, id uuid.UUID) error {
	gone, err := w.Services.DeleteService(by.Ctx, services.ServiceInput{ServiceID: id.String()})
	if err == nil {
		require.Equal(w.t, &services.DeletedService{Deleted: true, ID: id}, gone)
	}
	return err
}

// read reads a service without a token.
func (w *world) read(id uuid.UUID) (*services.Card, error) {
	found, err := w.Services.Service(context.Background(), services.ServiceInput{ServiceID: id.String()})
	if err != nil {
		return nil, err
	}
	return found.Service, nil
}

// catalogue returns the titles of a page, read without a token; empty parameters are left out.
func (w *world) catalogue(q, number, size string) (titles []string, next *int) {
	w.t.Helper()
	param := func(s string) page.Param {
		if s == "" {
			return nil
		}
		return page.Param{s}
	}
	list, err := w.Services.ServiceCatalogue(context.Background(), services.CatalogueInput{Page: param(number), PageSize: param(size), Q: param(q)})
	require.NoError(w.t, err)
	require.NotNil(w.t, list.Services)
	titles = []string{}
	for _, s := range list.Services {
		titles = append(titles, s.Title)
	}
	return titles, list.NextPage
}
