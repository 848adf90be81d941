package main

import "stoa/graph/webhooks"

// sender makes what delivers to webhooks; nil if they are switched off.
func (s webhookSettings) sender() *webhooks.Sender {
	if s.Webhooks != "on" {
		return nil
	}
	return webhooks.NewSender(webhooks.SenderConfig{AllowLoopback: s.WebhooksAllowLoopback})
}
