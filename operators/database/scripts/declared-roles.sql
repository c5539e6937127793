-- Roles that are declared with this `ensure`. Prints what fails as JSON, a line each.
\set ON_ERROR_STOP on
\set declared `cat "$RUN/declared.json"`
select set_config('konverge.declared', :'declared', false), set_config('konverge.ensure', :'ensure', false),
  set_config('konverge.problems', '', false) \g /dev/null
do $$
declare
  role jsonb;
  known pg_authid;
  changes text;
  grantee record;
  failure text;
begin
  for role in select value from jsonb_array_elements(current_setting('konverge.declared')::jsonb -> 'roles')
    where value ->> 'ensure' = current_setting('konverge.ensure')
  loop
    begin
      select * into known from pg_authid where rolname = role ->> 'name';
      if role ->> 'ensure' = 'absent' then
        if found then execute format('drop role %I', role ->> 'name'); end if;
        continue;
      end if;
      if not found then
        execute format('create role %I', role ->> 'name');
        select * into known from pg_authid where rolname = role ->> 'name';
      end if;
      select string_agg(case when (role ->> attribute)::boolean then '' else 'no' end || attribute, ' ') into changes
        from (values ('login', known.rolcanlogin), ('superuser', known.rolsuper), ('createdb', known.rolcreatedb),
          ('createrole', known.rolcreaterole), ('inherit', known.rolinherit), ('replication', known.rolreplication),
          ('bypassrls', known.rolbypassrls)) as present (attribute, has)
        where has <> (role ->> attribute)::boolean;
      if known.rolconnlimit <> (role ->> 'connectionLimit')::int then
        changes := concat_ws(' ', changes, format('connection limit %s', (role ->> 'connectionLimit')::int));
      end if;
      if coalesce(known.rolvaliduntil, 'infinity') <> (role ->> 'validUntil')::timestamptz then
        changes := concat_ws(' ', changes, format('valid until %L', role ->> 'validUntil'));
      end if;
      if role ? 'password' and known.rolpassword is distinct from role ->> 'password' then
        changes := concat_ws(' ', changes, 'password', coalesce(quote_literal(role ->> 'password'), 'null'));
      end if;
      if changes is not null then execute format('alter role %I %s', role ->> 'name', changes); end if;
      if role ? 'comment' and shobj_description(known.oid, 'pg_authid') is distinct from role ->> 'comment' then
        execute format('comment on role %I is %L', role ->> 'name', role ->> 'comment');
      end if;
    exception when others then
      get stacked diagnostics failure = pg_exception_detail;
      perform set_config('konverge.problems', concat_ws(E'\n', nullif(current_setting('konverge.problems'), ''),
        jsonb_build_object('kind', 'role', 'name', role ->> 'name', 'message', concat_ws(': ', sqlerrm, nullif(failure, '')))), false);
    end;
  end loop;
  -- Memberships, when all roles are there. Each grant is revoked from the one that has granted it.
  for role in select value from jsonb_array_elements(current_setting('konverge.declared')::jsonb -> 'roles')
    where value ->> 'ensure' = 'present' and current_setting('konverge.ensure') = 'present' and value ? 'inRoles'
  loop
    begin
      for grantee in select groups.rolname, grantors.rolname as grantor from pg_auth_members
        join pg_roles groups on groups.oid = roleid left join pg_roles grantors on grantors.oid = pg_auth_members.grantor
        where member = (select oid from pg_roles where rolname = role ->> 'name') and not role -> 'inRoles' ? groups.rolname::text
      loop
        execute format('revoke %I from %I', grantee.rolname, role ->> 'name') ||
          case when grantee.grantor is null then '' else format(' granted by %I', grantee.grantor) end || ' cascade';
      end loop;
      for grantee in select value as rolname from jsonb_array_elements_text(role -> 'inRoles')
        where not exists (select from pg_auth_members join pg_roles groups on groups.oid = roleid
          where groups.rolname = value and member = (select oid from pg_roles where rolname = role ->> 'name'))
      loop
        execute format('grant %I to %I', grantee.rolname, role ->> 'name');
      end loop;
    exception when others then
      perform set_config('konverge.problems', concat_ws(E'\n', nullif(current_setting('konverge.problems'), ''),
        jsonb_build_object('kind', 'role', 'name', role ->> 'name', 'message', sqlerrm)), false);
    end;
  end loop;
end $$;
select current_setting('konverge.problems') where current_setting('konverge.problems') <> '';
