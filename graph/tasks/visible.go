package tasks

import "stoa/ent/response"

// visible are the tasks t that exist for anyone, with their customers c.
const visible = `t.removed_at IS NULL AND c.state <> 'deleted'`

// isCustomer tells whether the caller is the task's author.
func (s *situation) isCustomer() bool { return s.caller != nil && *s.caller == s.task.CustomerID }

// knowsOrder tells whether the caller may know of the task's order: the customer, and the contractor whose response was selected.
func (s *situation) knowsOrder() bool {
	return s.isCustomer() || (s.own != nil && *s.own == response.StateSelected)
}

// seesResponses tells whether the caller may list responses to the task: the customer all of them, a responder its own.
func (s *situation) seesResponses() bool { return s.isCustomer() || s.own != nil }
