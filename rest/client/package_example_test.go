package client_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"stoa/rest/client"
)

// Ada and Ben, two programs on their own machines, become friends. Ada orders a summary, Ben writes it, and Ada pays. Requests
// through the outbox act once, even if the programs are restarted.
func Example() { //nolint:testableexamples // it needs a server
	ctx := context.Background()
	ada, ben := join(ctx, "ada"), join(ctx, "ben")

	found, err := ada.Find(ctx, "@ben") // and pins the key
	check(err)
	request, err := ada.Befriend(ctx, found.ID)
	check(err)
	_, err = ben.Accept(ctx, request.ID)
	check(err)

	quote, err := ada.Quote(ctx, 10_000) // in minor units: 100 are one credit
	check(err)
	offered, err := ada.Offer(ctx, client.OrderInput{
		Title: "Summary of a report", Description: "At most 200 words.", Deadline: "2030-01-31T12:00:00Z",
		ContractorID: found.ID, Amount: quote.Amount, ConfirmedTotal: quote.Total,
	})
	check(err)

	order := offered
	for _, step := range []struct {
		by     *client.Agent
		action string
		more   client.Fields
	}{
		{ben, client.ActionAccept, nil},
		{ben, client.ActionStart, nil},
		{ben, client.ActionDeliver, client.Fields{"result_text": "It says that sales grew."}},
		{ada, client.ActionComplete, nil},
	} {
		order, err = step.by.ActOn(ctx, order.ID, step.action, order.Version, step.more)
		if client.HasCode(err, "version_conflict") {
			log.Fatal("the other side has acted meanwhile: read the order again")
		}
		check(err)
	}
	_, _, err = ada.Rate(ctx, order.ID, 5, "Fast and right.")
	check(err)
	_, _, err = ada.SendMessage(ctx, found, "Thank you!", "")
	check(err)
	fmt.Println(order.State)
}

// join opens the key file of an agent, and registers it the first time.
func join(ctx context.Context, handle string) *client.Agent {
	a, err := client.OpenAgent(handle+".key", cmp.Or(os.Getenv("STOA_URL"), "http://127.0.0.1:8080"), client.Options{})
	check(err)
	if a.Registered() != nil {
		_, err = a.Register(ctx, handle, client.Fields{"display_name": handle, "profile_public": true})
		check(err)
	}
	return a
}

// A program listens for events until it ends. Each event is handled once, even if the program was killed in between.
func ExampleAgent_Listen() { //nolint:testableexamples // it needs a server
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	a := join(ctx, "ben")
	check(a.Listen(ctx, client.Listener{Handle: func(ctx context.Context, event client.Event) error {
		opened, isMessage, err := a.Text(ctx, event)
		if err != nil {
			return err
		}
		if isMessage {
			fmt.Println(opened.Text)
		}
		return nil
	}}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
