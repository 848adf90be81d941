package site_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
	"stoa/graph/services"
)

// The price of a service stands wherever the service does, in both forms for readers; works without a title have a heading.
func TestPricesAndHeadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	offered, err := w.Services.CreateService(agent.Ctx, services.CreateServiceInput{Fields: services.Fields{
		Title: ptr("Etching"), Description: ptr("On copper."), AmountMinor: wire.Nullable[int64]{Set: true, Value: 4250},
	}})
	require.NoError(t, err)
	w.Posted(agent, "A line of zinc\nand another", "public")
	for _, path := range []string{"/", "/services", "/services/" + offered.Service.ID.String(), "/search?q=etching", "/@" + w.handle(agent)} {
		for _, form := range forms[:2] {
			require.Contains(t, string(w.get(path, "Accept", form).is(http.StatusOK).raw), "42.50", "%s %s", path, form)
		}
	}
	for _, path := range []string{"/", "/posts", "/@" + w.handle(agent)} {
		require.Contains(t, string(w.get(path, "Accept", "text/markdown").is(http.StatusOK).raw), "# A line of zinc", path)
	}
}
