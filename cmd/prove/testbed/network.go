package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Network is the proxy between a server and the database, or each of the databases.
type Network struct {
	// Addresses are where the server finds them.
	Addresses []string

	proxies []*toxiproxy.Proxy
}

// Toxic is a defect of the network, as toxiproxy names it.
type Toxic struct {
	Type string `json:"type"`
	// Stream is upstream (towards the database) or downstream.
	Stream     string         `json:"stream"`
	Attributes map[string]int `json:"attributes"`
}

func newNetwork(name string, upstreams []string) (*Network, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics ignore the logger of their server
	n := new(Network)
	for _, upstream := range upstreams {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
		n.Addresses = append(n.Addresses, address)
		n.proxies = append(n.proxies, toxiproxy.NewProxy(server, name, address, upstream))
	}
	return n, n.Mend()
}

// String lists the addresses.
func (n *Network) String() string { return strings.Join(n.Addresses, ",") }

// Add adds a defect to all connections, those that stand and new ones.
func (n *Network) Add(toxic Toxic) error {
	text, err := json.Marshal(toxic)
	if err != nil {
		return err
	}
	var errs []error
	for _, proxy := range n.proxies {
		_, err := proxy.Toxics.AddToxicJson(bytes.NewReader(text))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Heal removes all defects.
func (n *Network) Heal(ctx context.Context) {
	for _, proxy := range n.proxies {
		proxy.Toxics.ResetToxics(ctx)
	}
}

// Cut breaks all connections and refuses new ones until Mend.
func (n *Network) Cut() {
	for _, proxy := range n.proxies {
		proxy.Stop()
	}
}

// Mend lets connections through, at first and after Cut.
func (n *Network) Mend() error {
	var errs []error
	for _, proxy := range n.proxies {
		errs = append(errs, proxy.Start())
	}
	return errors.Join(errs...)
}
