package main

import (
	"context"

	"stoa/graph"
	"stoa/graph/webhooks"
)

// sender makes what delivers to webhooks; nil if they are switched off.
func (s webhookSettings) sender() *webhooks.Sender {
	if s.Webhooks != "on" {
		return nil
	}
	return webhooks.NewSender(webhooks.SenderConfig{AllowLoopback: s.WebhooksAllowLoopback})
}

// queueWebhooks has the events that this process causes reach webhooks at once, until the returned function is called.
func queueWebhooks(domains *graph.Graph) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		domains.Webhooks.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
