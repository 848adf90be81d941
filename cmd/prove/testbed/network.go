package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Network is the proxy between a server and the database, or each of the databases, or between all servers and the mail server.
type Network struct {
	// Addresses are the proxy's, for the servers.
	Addresses []string

	proxies []*toxiproxy.Proxy
}

func newNetwork(name string, upstreams []string) (*Network, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics ignore the logger of their server
	n := new(Network)
	for _, upstream := range upstreams {
		address, err := freeAddress()
		if err != nil {
			return n, err
		}
		server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
		n.Addresses = append(n.Addresses, address)
		n.proxies = append(n.proxies, toxiproxy.NewProxy(server, name, address, upstream))
	}
	return n, n.Mend()
}

// Add adds a toxic, as toxiproxy names it, to both directions of all connections, open and new ones, until heal is called. Each one
// has its own name, so faults of one network may overlap.
func (n *Network) Add(kind string, attributes map[string]int) (heal func(ctx context.Context) error, err error) {
	var names []string
	for _, stream := range []string{"upstream", "downstream"} {
		name := stream + " " + uuid.NewString()
		names = append(names, name)
		text, _ := json.Marshal(map[string]any{"name": name, "type": kind, "stream": stream, "attributes": attributes}) //nolint:errchkjson // it is plain
		for _, proxy := range n.proxies {
			_, failed := proxy.Toxics.AddToxicJson(bytes.NewReader(text))
			err = errors.Join(err, failed)
		}
	}
	return func(ctx context.Context) (err error) {
		for _, name := range names {
			for _, proxy := range n.proxies {
				err = errors.Join(err, proxy.Toxics.RemoveToxic(ctx, name))
			}
		}
		return err
	}, err
}

// Cut breaks all connections and refuses new ones until Mend.
func (n *Network) Cut() {
	for _, proxy := range n.proxies {
		proxy.Stop()
	}
}

// Mend lets connections through, at first and after Cut.
func (n *Network) Mend() (err error) {
	for _, proxy := range n.proxies {
		err = errors.Join(err, proxy.Start())
	}
	return err
}
