-- Schemas and extensions of the database of this number, within that database. Prints what fails as JSON, a line each.
\set ON_ERROR_STOP on
\set declared `cat "$RUN/declared.json"`
select set_config('konverge.declared', jsonb_extract_path_text(:'declared'::jsonb, 'databases', :'index'), false),
  set_config('konverge.problems', '', false) \g /dev/null
do $$
declare
  declared constant jsonb := current_setting('konverge.declared')::jsonb;
  part jsonb;
  owner text;
  known record;
begin
  -- Extensions can need schemas, and schemas can have what extensions have made: what is absent goes in the opposite order.
  for part in select value || jsonb_build_object('kind', kind) from (values ('extensions', 'absent', 1), ('schemas', 'absent', 2),
      ('schemas', 'present', 3), ('extensions', 'present', 4)) as step (kind, ensure, place),
    lateral jsonb_array_elements(coalesce(declared -> kind, '[]')) where value ->> 'ensure' = ensure order by place
  loop
    begin
      if part ->> 'kind' = 'schemas' then
        owner := coalesce(part ->> 'owner', declared ->> 'owner');
        select pg_get_userbyid(nspowner) as owner into known from pg_namespace where nspname = part ->> 'name';
        if part ->> 'ensure' = 'absent' then
          if found then execute format('drop schema %I', part ->> 'name'); end if;
        elsif not found then
          execute format('create schema %I authorization %I', part ->> 'name', owner);
        elsif part ? 'owner' and known.owner <> owner then
          execute format('alter schema %I owner to %I', part ->> 'name', owner);
        end if;
      else
        select extversion, nspname into known from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
          where extname = part ->> 'name';
        if part ->> 'ensure' = 'absent' then
          if found then execute format('drop extension %I', part ->> 'name'); end if;
          continue;
        end if;
        if not found then
          execute format('create extension %I', part ->> 'name') || 
            case when part ? 'schema' then format(' schema %I', part ->> 'schema') else '' end ||
            case when part ? 'version' then format(' version %I', part ->> 'version') else '' end;
          continue;
        end if;
        if part ? 'version' and known.extversion <> part ->> 'version' then
          execute format('alter extension %I update to %I', part ->> 'name', part ->> 'version');
        end if;
        if part ? 'schema' and known.nspname <> part ->> 'schema' then
          execute format('alter extension %I set schema %I', part ->> 'name', part ->> 'schema');
        end if;
      end if;
    exception when others then
      perform set_config('konverge.problems', concat_ws(E'\n', nullif(current_setting('konverge.problems'), ''),
        jsonb_build_object('kind', 'database', 'name', declared ->> 'name',
          'message', format('%s %s: %s', rtrim(part ->> 'kind', 's'), part ->> 'name', sqlerrm))), false);
    end;
  end loop;
end $$;
select current_setting('konverge.problems') where current_setting('konverge.problems') <> '';
