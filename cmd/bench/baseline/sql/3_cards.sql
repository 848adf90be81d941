-- Cards of orders.
CREATE FUNCTION bench.brief(b bots) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"id":"%s","handle":"%s","display_name":%s,"encryption_public_key":"%s","encryption_key_fingerprint":"SHA256:%s","avatar_url":%s}',
    b.id, b.handle, to_json(b.display_name), encode(b.encryption_public_key, 'base64'),
    rtrim(encode(sha256(b.encryption_public_key), 'base64'), '='),
    CASE WHEN b.avatar_id IS NULL OR NOT stoa_public(b) THEN 'null' ELSE format('"/api/v1/attachments/%s/preview"', b.avatar_id) END);
END
$$;

CREATE FUNCTION bench.step(o orders, name text, extra text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"name":"%s","method":"POST","path":"/api/v1/orders/%s/%s","body":{%s"expected_version":%s,"operation_id":null%s}}',
    name, o.id, name, CASE WHEN name = 'accept' THEN extra ELSE '' END, o.version, CASE WHEN name <> 'accept' THEN extra ELSE '' END);
END
$$;

CREATE FUNCTION bench.steps(o orders, caller uuid, acceptable boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN concat_ws(',',
    CASE WHEN o.state = 'offered' AND caller <> o.author_id AND acceptable THEN bench.step(o, 'accept',
      CASE WHEN caller = o.customer_id THEN format('"confirmed_total_minor":%s,', o.total_minor) ELSE '' END) END,
    CASE WHEN o.state = 'offered' AND caller <> o.author_id THEN bench.step(o, 'reject', '') END,
    CASE WHEN o.state = 'offered' AND caller = o.author_id THEN bench.step(o, 'cancel', '') END,
    CASE WHEN o.state = 'funded' AND caller = o.contractor_id THEN bench.step(o, 'start', '') END,
    CASE WHEN o.state = 'in_progress' AND caller = o.contractor_id THEN bench.step(o, 'deliver', ',"result_text":null') END,
    CASE WHEN o.state = 'delivered' AND caller = o.customer_id THEN bench.step(o, 'complete', '') END,
    CASE WHEN o.state IN ('funded', 'in_progress', 'delivered') THEN bench.step(o, 'dispute', ',"reason":null') END,
    CASE WHEN o.state IN ('funded', 'in_progress', 'delivered', 'disputed') AND o.refund_proposed_by IS NULL
      THEN bench.step(o, 'propose-refund', ',"reason":null') END,
    CASE WHEN o.state = 'disputed' AND o.refund_proposed_by <> caller THEN bench.step(o, 'approve-refund', '') END);
END
$$;

CREATE FUNCTION bench.card(o orders, c bots, k bots, caller uuid, acceptable boolean) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN format('{"order":{"id":"%s","state":"%s","version":%s,"title":%s,"description":%s,"deadline":"%s",'
    '"amount_minor":%s,"fee_minor":%s,"total_minor":%s,"fee_mode":"on_top","fee_bps":%s,"input_attachments":[],"result_attachments":[],'
    '"outcome":%s,"customer_id":"%s","contractor_id":"%s","author_id":"%s","customer":%s,"contractor":%s,"role":"%s",',
    o.id, o.state, o.version, to_json(o.title), to_json(o.description), bench.stamp(o.deadline),
    o.amount_minor, o.fee_minor, o.total_minor, o.fee_bps,
    coalesce('"' || o.outcome || '"', 'null'), o.customer_id, o.contractor_id, o.author_id, bench.brief(c), bench.brief(k),
    CASE WHEN caller = o.customer_id THEN 'customer' ELSE 'contractor' END) ||
  format('"confirmed_total_minor":%s,"result_text":%s,"dispute":%s,"refund_proposal":%s,"task_id":%s,"created_at":%s,"updated_at":%s,'
    '"funded_at":%s,"delivered_at":%s,"closed_at":%s,"actions":[%s]}}',
    coalesce(o.confirmed_total_minor::text, 'null'), coalesce(to_json(o.result_text)::text, 'null'),
    CASE WHEN o.disputed_by IS NULL THEN 'null' ELSE format('{"opened_by":"%s","reason":%s,"created_at":%s}',
      o.disputed_by, to_json(o.dispute_reason), bench.quoted_stamp(o.disputed_at)) END,
    CASE WHEN o.refund_proposed_by IS NULL THEN 'null' ELSE format('{"proposed_by":"%s","reason":%s,"created_at":%s}',
      o.refund_proposed_by, to_json(o.refund_reason), bench.quoted_stamp(o.refund_proposed_at)) END,
    coalesce('"' || o.task_id || '"', 'null'), bench.quoted_stamp(o.created_at), bench.quoted_stamp(o.updated_at),
    bench.quoted_stamp(o.funded_at), bench.quoted_stamp(o.delivered_at), bench.quoted_stamp(o.closed_at),
    bench.steps(o, caller, acceptable));
END
$$;
